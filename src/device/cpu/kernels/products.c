/* Selects the panels of an instruction set. */
#include "device/cpu/kernels/products.h"

bool le_products_find(enum le_simd simd, enum le_type factors, enum le_type sums, struct le_products *out) {
    switch (simd) {
#if LE_SIMD_X86
    case LE_SIMD_AVX512:
        return le_panels_find_avx512(factors, sums, out);
    case LE_SIMD_AVX2:
        return le_panels_find_avx2(factors, sums, out);
#endif
    default:
        return le_panels_find_baseline(factors, sums, out);
    }
}
