/* Which library made a call, and what to do next in its words. A library is recognized by the path of the module that
 * made the call, else by the kernel's name, else by the process's command. */
#ifndef LE_ADVICE_H
#define LE_ADVICE_H
#include "trace/index.h"

enum le_user { LE_USER_CUDA, LE_USER_CUPY, LE_USER_NUMBA, LE_USER_TORCH, LE_USER_JAX, LE_USERS };

enum le_advice {
#define ADVICE(topic, cuda, cupy, numba, torch, jax) LE_ADVICE_##topic,
#include "trace/rules/advice.def"
#undef ADVICE
    LE_ADVICES
};

const char *le_advice_text(enum le_advice advice, enum le_user user);
/* LE_USERS where nothing tells. */
enum le_user le_user_of_path(const char *path);
enum le_user le_user_of_kernel(const char *name);
enum le_user le_user_of_command(const char *command);
const char *le_user_name(enum le_user user);
#endif
