/* The texts are advice.def's; the patterns that tell libraries apart are here. */
#include "trace/rules/advice.h"
#include "base/status.h"
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

enum le_user le_user_of_kernel(const char *name) {
    static const struct pattern patterns[] = {
        {"_ZN6cudapy", LE_USER_NUMBA},        {"cudapy::", LE_USER_NUMBA},         {"cupy_", LE_USER_CUPY},
        {"_ZN2at6native", LE_USER_TORCH},     {"at::native", LE_USER_TORCH},       {"at_cuda_detail", LE_USER_TORCH},
        {"triton_poi_fused", LE_USER_TORCH},  {"triton_red_fused", LE_USER_TORCH}, {"loop_", LE_USER_JAX},
        {"input_reduce_fusion", LE_USER_JAX}, {"wrapped_", LE_USER_JAX},           {"_fusion", LE_USER_JAX},
    };
    return match(name, patterns, ARRAY_LEN(patterns));
}

enum le_user le_user_of_command(const char *command) {
    static const struct pattern patterns[] = {
        {"cupy", LE_USER_CUPY},
        {"numba", LE_USER_NUMBA},
        {"torch", LE_USER_TORCH},
        {"jax", LE_USER_JAX},
    };
    return match(command, patterns, ARRAY_LEN(patterns));
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
