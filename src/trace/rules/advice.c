/* See advice.h. The texts are in advice.def, the patterns that identify frameworks in this file. */
#include "trace/rules/advice.h"
#include "base/status.h"
#include <ctype.h>
#include <string.h>

struct pattern {
    const char *text;
    enum le_framework framework;
};

static enum le_framework match_patterns(const char *text, const struct pattern *patterns, size_t count) {
    for (size_t k = 0; text && k < count; k++)
        if (strstr(text, patterns[k].text))
            return patterns[k].framework;
    return LE_FRAMEWORKS;
}

/* A package's folder counts only below site-packages or dist-packages: the program itself may be in /opt/torch. */
enum le_framework le_framework_of_path(const char *path) {
    static const struct pattern packages[] = {
        {"/cupy/", LE_FRAMEWORK_CUPY},        {"/cupyx/", LE_FRAMEWORK_CUPY},  {"/cupy_backends/", LE_FRAMEWORK_CUPY},
        {"/numba_cuda/", LE_FRAMEWORK_NUMBA}, {"/numba/", LE_FRAMEWORK_NUMBA}, {"/torch/", LE_FRAMEWORK_TORCH},
        {"/jax/", LE_FRAMEWORK_JAX},          {"/jaxlib/", LE_FRAMEWORK_JAX},  {"/jax_plugins/", LE_FRAMEWORK_JAX},
        {"/jax_cuda", LE_FRAMEWORK_JAX},
    };
    static const struct pattern modules[] = {
        {"libtorch", LE_FRAMEWORK_TORCH},
        {"xla_cuda_plugin", LE_FRAMEWORK_JAX},
    };
    enum le_framework framework = match_patterns(strstr(path, "-packages/"), packages, ARRAY_LEN(packages));
    return framework != LE_FRAMEWORKS ? framework : match_patterns(path, modules, ARRAY_LEN(modules));
}

/* Whether XLA named the kernel: loop_add_fusion, input_reduce_fusion_2, fusion, ... Such names are never mangled. */
static bool is_fusion(const char *name) {
    size_t length = strlen(name), word = strlen("fusion");
    while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    if (length > 0 && length < strlen(name) && name[length - 1] == '_')
        length--;
    return name[0] != '_' && length >= word && strncmp(name + length - word, "fusion", word) == 0 &&
           (length == word || name[length - word - 1] == '_');
}

enum le_framework le_framework_of_kernel(const char *name) {
    static const struct pattern starts[] = {
        {"_ZN6cudapy", LE_FRAMEWORK_NUMBA},
        {"cudapy::", LE_FRAMEWORK_NUMBA},
        {"cupy_", LE_FRAMEWORK_CUPY},
        {"_ZN2at6native", LE_FRAMEWORK_TORCH},
        {"at::native", LE_FRAMEWORK_TORCH},
        {"void at::native", LE_FRAMEWORK_TORCH},
        {"_ZN14at_cuda_detail", LE_FRAMEWORK_TORCH},
        {"at_cuda_detail", LE_FRAMEWORK_TORCH},
        {"wrapped_", LE_FRAMEWORK_JAX},
        {"triton_poi_fused", LE_FRAMEWORK_TORCH},
        {"triton_red_fused", LE_FRAMEWORK_TORCH},
        {"triton_per_fused", LE_FRAMEWORK_TORCH},
    };
    for (size_t k = 0; name && k < ARRAY_LEN(starts); k++)
        if (strncmp(name, starts[k].text, strlen(starts[k].text)) == 0)
            return starts[k].framework;
    return name && is_fusion(name) ? LE_FRAMEWORK_JAX : LE_FRAMEWORKS;
}

/* Whether the text has the word, but not as the end of a longer one, as in "blowtorch". */
static bool has_word(const char *text, const char *word) {
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        if (at == text || !isalpha((unsigned char)at[-1]))
            return true;
    return false;
}

/* The arguments of a Python command; NULL if the command is another program. */
static const char *python_arguments(const char *command) {
    size_t length = command ? strcspn(command, " ") : 0, name = length;
    while (name > 0 && command[name - 1] != '/')
        name--;
    return length && strncmp(command + name, "python", strlen("python")) == 0 ? command + length : NULL;
}

enum le_framework le_framework_of_command(const char *command) {
    static const struct pattern words[] = {
        {"cupy", LE_FRAMEWORK_CUPY},     {"numba", LE_FRAMEWORK_NUMBA}, {"torch", LE_FRAMEWORK_TORCH},
        {"pytorch", LE_FRAMEWORK_TORCH}, {"jax", LE_FRAMEWORK_JAX},
    };
    const char *given = python_arguments(command);
    for (size_t k = 0; given && k < ARRAY_LEN(words); k++)
        if (has_word(given, words[k].text))
            return words[k].framework;
    return LE_FRAMEWORKS;
}

const char *le_advice_text(enum le_advice advice, enum le_framework framework) {
    static const char *const texts[LE_ADVICES][LE_FRAMEWORKS] = {
#define ADVICE(topic, cuda, cupy, numba, torch, jax) [LE_ADVICE_##topic] = {cuda, cupy, numba, torch, jax},
#include "trace/rules/advice.def"
#undef ADVICE
    };
    return texts[advice][framework];
}
