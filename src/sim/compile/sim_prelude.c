/* Embeds the files of prelude/ and sim_abi.h with the assembler (LE_SIM_FOLDER: their folder when the library is
 * built), and names the headers that kernels can include. */
#include "sim/compile/sim_prelude.h"
#include <string.h>

#define EMBED(symbol, path)                                                                                            \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".hidden le_sim_embedded_" #symbol "\n"                                                                    \
            ".globl le_sim_embedded_" #symbol "\n"                                                                     \
            "le_sim_embedded_" #symbol ":\n"                                                                           \
            ".incbin \"" LE_SIM_FOLDER "/" path "\"\n"                                                                 \
            ".byte 0\n"                                                                                                \
            ".popsection\n");                                                                                          \
    extern const char le_sim_embedded_##symbol[] __attribute__((visibility("hidden")));
EMBED(abi, "grid/sim_abi.h")
EMBED(all, "prelude/sim_all.inc")
EMBED(core, "prelude/sim_core.inc")
EMBED(vectors, "prelude/sim_vectors.inc")
EMBED(math, "prelude/sim_math.inc")
EMBED(intrinsics, "prelude/sim_intrinsics.inc")
EMBED(words, "prelude/sim_words.inc")
EMBED(atomics, "prelude/sim_atomics.inc")
EMBED(clusters, "prelude/sim_clusters.inc")
EMBED(entries, "prelude/sim_entries.inc")
EMBED(half, "prelude/sim_half.inc")
EMBED(fp16, "prelude/sim_fp16.inc")
EMBED(bf16, "prelude/sim_bf16.inc")
EMBED(groups, "prelude/sim_groups.inc")
EMBED(standard, "prelude/sim_standard.inc")

#define HERE        "#pragma GCC system_header\n" /* everything is available without an include */
#define MATHEMATICS                               /* with the constants of math.h */                                   \
    HERE "#ifndef M_PI\n#define M_PI 3.14159265358979323846\n#endif\n#ifndef M_PI_2\n"                                 \
         "#define M_PI_2 1.57079632679489661923\n#define M_PI_4 0.78539816339744830962\n#define M_1_PI "               \
         "0.31830988618379067154\n#define M_2_PI 0.63661977236758134308\n#define M_2_SQRTPI 1.12837916709551257390\n"  \
         "#define M_E 2.71828182845904523536\n#define M_SQRT2 1.41421356237309504880\n#define M_SQRT1_2 "              \
         "0.70710678118654752440\n#define M_LN2 0.69314718055994530942\n#define M_LN10 2.30258509299404568402\n"       \
         "#define M_LOG2E 1.44269504088896340736\n#define M_LOG10E 0.43429448190325182765\n#endif\n"
static const struct {
    const char *name, *bytes;
} files[] = {
    {"sim_abi.h", le_sim_embedded_abi},
    {"sim_all.inc", le_sim_embedded_all},
    {"sim_core.inc", le_sim_embedded_core},
    {"sim_vectors.inc", le_sim_embedded_vectors},
    {"sim_math.inc", le_sim_embedded_math},
    {"sim_intrinsics.inc", le_sim_embedded_intrinsics},
    {"sim_words.inc", le_sim_embedded_words},
    {"sim_atomics.inc", le_sim_embedded_atomics},
    {"sim_clusters.inc", le_sim_embedded_clusters},
    {"sim_entries.inc", le_sim_embedded_entries},
    {"sim_half.inc", le_sim_embedded_half},
    {"sim_fp16.inc", le_sim_embedded_fp16},
    {"sim_bf16.inc", le_sim_embedded_bf16},
    {"sim_groups.inc", le_sim_embedded_groups},
    {"sim_standard.inc", le_sim_embedded_standard},
    {"cuda_fp16.h", "#include <sim_fp16.inc>\n"},
    {"cuda_bf16.h", "#include <sim_bf16.inc>\n"},
    {"cooperative_groups.h", "#include <sim_groups.inc>\n"},
    {"cooperative_groups/reduce.h", "#include <sim_groups.inc>\n"},
    {"cooperative_groups/scan.h", "#include <sim_groups.inc>\n"},
    {"cuda_runtime.h", HERE},
    {"cuda_runtime_api.h", HERE},
    {"cuda.h", HERE},
    {"device_launch_parameters.h", HERE},
    {"device_functions.h", HERE},
    {"device_atomic_functions.h", HERE},
    {"vector_types.h", HERE},
    {"vector_functions.h", HERE},
    {"math_functions.h", HERE},
    {"math_constants.h", HERE},
    {"sm_60_atomic_functions.h", HERE},
    {"math.h", MATHEMATICS},
    {"stdio.h", HERE},
    {"stdlib.h", HERE},
    {"string.h", HERE},
    {"assert.h", HERE},
    {"time.h", HERE},
    {"cmath", MATHEMATICS "#include <sim_standard.inc>\n"},
    {"cstdio", "#include <sim_standard.inc>\n"},
    {"cstdlib", "#include <sim_standard.inc>\n"},
    {"cstring", "#include <sim_standard.inc>\n"},
    {"cassert", HERE},
};

bool le_sim_prelude_file(size_t k, struct sim_file *file) {
    if (k >= ARRAY_LEN(files))
        return false;
    *file = (struct sim_file){.name = files[k].name, .bytes = files[k].bytes, .size_bytes = strlen(files[k].bytes)};
    return true;
}
