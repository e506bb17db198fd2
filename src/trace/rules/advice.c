/* The texts are advice.def's; the patterns that tell libraries apart are here. */
#include "trace/rules/advice.h"
#include "base/status.h"
#include <ctype.h>
#include <string.h>

struct pattern {
    const char *text;
    enum le_user user;
};

static enum le_user match(const char *text, const struct pattern *patterns, size_t count) {
    for (size_t k = 0; text && k < count; k++)
        if (strstr(text, patterns[k].text))
            return patterns[k].user;
    return LE_USERS;
}

/* A package's folder counts where packages are installed: a program may lie in /opt/torch. */
enum le_user le_user_of_path(const char *path) {
    static const struct pattern packages[] = {
        {"/cupy/", LE_USER_CUPY},        {"/cupyx/", LE_USER_CUPY},  {"/cupy_backends/", LE_USER_CUPY},
        {"/numba_cuda/", LE_USER_NUMBA}, {"/numba/", LE_USER_NUMBA}, {"/torch/", LE_USER_TORCH},
        {"/jax/", LE_USER_JAX},          {"/jaxlib/", LE_USER_JAX},  {"/jax_plugins/", LE_USER_JAX},
        {"/jax_cuda", LE_USER_JAX},
    };
    static const struct pattern modules[] = {
        {"libtorch", LE_USER_TORCH},
        {"xla_cuda_plugin", LE_USER_JAX},
    };
    enum le_user user = match(strstr(path, "-packages/"), packages, ARRAY_LEN(packages));
    return user != LE_USERS ? user : match(path, modules, ARRAY_LEN(modules));
}

/* XLA's: loop_add_fusion, input_reduce_fusion_2, fusion, ..., never mangled. */
static bool is_fusion(const char *name) {
    size_t length = strlen(name), word = strlen("fusion");
    while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    if (length > 0 && length < strlen(name) && name[length - 1] == '_')
        length--;
    return name[0] != '_' && length >= word && strncmp(name + length - word, "fusion", word) == 0 &&
           (length == word || name[length - word - 1] == '_');
}

enum le_user le_user_of_kernel(const char *name) {
    static const struct pattern starts[] = {
        {"_ZN6cudapy", LE_USER_NUMBA},
        {"cudapy::", LE_USER_NUMBA},
        {"cupy_", LE_USER_CUPY},
        {"_ZN2at6native", LE_USER_TORCH},
        {"at::native", LE_USER_TORCH},
        {"void at::native", LE_USER_TORCH},
        {"_ZN14at_cuda_detail", LE_USER_TORCH},
        {"at_cuda_detail", LE_USER_TORCH},
        {"wrapped_", LE_USER_JAX},
        {"triton_poi_fused", LE_USER_TORCH},
        {"triton_red_fused", LE_USER_TORCH},
        {"triton_per_fused", LE_USER_TORCH},
    };
    for (size_t k = 0; name && k < ARRAY_LEN(starts); k++)
        if (strncmp(name, starts[k].text, strlen(starts[k].text)) == 0)
            return starts[k].user;
    return name && is_fusion(name) ? LE_USER_JAX : LE_USERS;
}

/* Where the word is not the end of a longer one, as in "blowtorch". */
static bool has_word(const char *text, const char *word) {
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        if (at == text || !isalpha((unsigned char)at[-1]))
            return true;
    return false;
}

/* What Python was given: NULL where the command is another program. */
static const char *given_to_python(const char *command) {
    size_t length = command ? strcspn(command, " ") : 0, name = length;
    while (name > 0 && command[name - 1] != '/')
        name--;
    return length && strncmp(command + name, "python", strlen("python")) == 0 ? command + length : NULL;
}

enum le_user le_user_of_command(const char *command) {
    static const struct pattern words[] = {
        {"cupy", LE_USER_CUPY},     {"numba", LE_USER_NUMBA}, {"torch", LE_USER_TORCH},
        {"pytorch", LE_USER_TORCH}, {"jax", LE_USER_JAX},
    };
    const char *given = given_to_python(command);
    for (size_t k = 0; given && k < ARRAY_LEN(words); k++)
        if (has_word(given, words[k].text))
            return words[k].user;
    return LE_USERS;
}

const char *le_user_name(enum le_user user) {
    static const char *const names[] = {"CUDA", "CuPy", "Numba", "PyTorch", "JAX"};
    return names[user];
}

const char *le_advice_text(enum le_advice advice, enum le_user user) {
    static const char *const texts[LE_ADVICES][LE_USERS] = {
#define ADVICE(topic, cuda, cupy, numba, torch, jax) [LE_ADVICE_##topic] = {cuda, cupy, numba, torch, jax},
#include "trace/rules/advice.def"
#undef ADVICE
    };
    return texts[advice][user];
}
