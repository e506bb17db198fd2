/* Advice in the words of the framework that made the calls: CuPy, Numba, PyTorch, JAX, or CUDA itself. A framework is
 * recognized by the path of the module that made the call, else by the kernel's name, else by the command of the
 * process. */
#ifndef LE_ADVICE_H
#define LE_ADVICE_H
#include "trace/index.h"

enum le_framework {
    LE_FRAMEWORK_CUDA,
    LE_FRAMEWORK_CUPY,
    LE_FRAMEWORK_NUMBA,
    LE_FRAMEWORK_TORCH,
    LE_FRAMEWORK_JAX,
    LE_FRAMEWORKS
};

enum le_advice {
#define ADVICE(topic, cuda, cupy, numba, torch, jax) LE_ADVICE_##topic,
#include "trace/rules/advice.def"
#undef ADVICE
    LE_ADVICES
};

const char *le_advice_text(enum le_advice advice, enum le_framework framework);
/* These return LE_FRAMEWORKS if the text does not show which framework it is. */
enum le_framework le_framework_of_path(const char *path);
enum le_framework le_framework_of_kernel(const char *name);
enum le_framework le_framework_of_command(const char *command);
#endif
