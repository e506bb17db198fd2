/* Matrix products of packed factors, and matrix-vector products. They compute contractions if there is no BLAS, or none
 * for the type. No state; any thread.
 *
 * Factors are packed in panels: the left one in panels of `rows` rows, panel[k * rows + i], the right one in panels of
 * `columns` columns, panel[k * columns + j], where k counts terms. The product of two panels is a matrix of rows x
 * columns sums within a larger matrix. Terms are added one after the other. Floats round once per term on instruction
 * sets with fused multiply-adds, so those sets agree, and no bit depends on how terms, rows or columns were cut.
 * Integers wrap: products in the factors' type, sums in the sums' type.
 *
 * A matrix for a matrix-vector product is not packed. By rows: the terms go in turn to as many sums as fit in 128
 * bytes, which are then folded in halves. By columns, that is, rows that lie side by side: term after term. */
#ifndef LE_CPU_PRODUCTS_H
#define LE_CPU_PRODUCTS_H
#include "device/cpu/machine/ops.h"

#define LE_PANEL_BYTES 2048 /* length of a panel's line: a left panel stays in the first-level cache */
#define LE_PANEL_SLACK 64   /* bytes after the packed panels that packing may overwrite */
#define LE_PANEL_SUMS  2048 /* most bytes of the sums of two panels */
#define LE_DOT_BYTES   128  /* bytes of the sums that a row's terms go to in turn */

/* sums: rows `stride` apart. add: add to the existing values. */
typedef void le_panel_product(int64_t terms, const void *left, const void *right, void *sums, int64_t stride, bool add);
/* Packs panels of `group` lines (rows or columns). The last panel is filled up with 0: packed[i / group * term_count *
 * group + k * group + i % group] = at[lines[i] + terms[k]]. */
typedef void le_panel_pack(void *packed, const void *at, const int64_t *lines, int64_t line_count, const int64_t *terms,
                           int64_t term_count, int64_t group);
/* sums[i] is the sum of matrix[i * stride + k] * vector[k], or, by columns, of matrix[k * stride + i] * vector[k]. */
typedef void le_vector_product(int64_t rows, int64_t terms, const void *matrix, int64_t stride, const void *vector,
                               void *sums);
struct le_products {
    int rows, columns;
    int64_t terms; /* packed at once */
    int64_t block; /* number of columns whose right panels stay in the second-level cache */
    le_panel_product *run;
    le_panel_pack *pack;
    le_vector_product *by_rows, *by_columns; /* floats only */
};
#define LE_PANELS(set) bool le_panels_find_##set(enum le_type factors, enum le_type sums, struct le_products *out);
LE_PANELS(baseline)
LE_PANELS(avx2)
LE_PANELS(avx512)
#undef LE_PANELS
/* false: not available for these types. */
bool le_products_find(enum le_simd simd, enum le_type factors, enum le_type sums, struct le_products *out);
#endif
