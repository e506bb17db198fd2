/* Matrix products of packed factors: what computes contractions where there is no BLAS, or none for the type. No state,
 * any thread.
 *
 * The left factor is packed in panels of `rows` rows: panel[k * rows + i]; the right one in panels of `columns`
 * columns: panel[k * columns + j]. A product of two panels is added to `sums`, rows x columns, term after term: for
 * floats with one rounding a term where the instruction set has fused multiply-adds, so that those sets agree; integers
 * wrap, the products in the factors' type, the sums in theirs. */
#ifndef LE_CPU_PRODUCTS_H
#define LE_CPU_PRODUCTS_H
#include "device/cpu/ops.h"

typedef void le_panel_product(int64_t terms, const void *left, const void *right, void *sums);
struct le_products {
    int rows, columns;
    le_panel_product *run;
};
#define LE_PANELS(set) bool le_panels_find_##set(enum le_type factors, enum le_type sums, struct le_products *out);
LE_PANELS(baseline)
LE_PANELS(avx2)
LE_PANELS(avx512)
#undef LE_PANELS
/* false: there is none for these types. */
bool le_products_find(enum le_simd simd, enum le_type factors, enum le_type sums, struct le_products *out);
#endif
