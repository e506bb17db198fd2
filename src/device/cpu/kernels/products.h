/* Products of matrices, of packed factors, and with vectors: what computes contractions where there is no BLAS, or none
 * for the type. No state, any thread.
 *
 * A factor is packed in panels: of `rows` rows the left one, panel[k * rows + i], of `columns` columns the right one,
 * panel[k * columns + j], k counting terms. The sums of two panels' product are a matrix of rows x columns in a larger
 * one; terms are added one after the other: for floats with one rounding a term where the instruction set has fused
 * multiply-adds, so that those sets agree, and no bit hangs on how terms, rows or columns were cut; integers wrap, the
 * products in the factors' type, the sums in theirs.
 *
 * A matrix times a vector is read where it lies. Rows: terms go to as many sums as 128 bytes hold, in turn, which are
 * then folded in halves; columns, that is rows that lie side by side: term after term. */
#ifndef LE_CPU_PRODUCTS_H
#define LE_CPU_PRODUCTS_H
#include "device/cpu/machine/ops.h"

#define LE_PANEL_BYTES 2048 /* of a line of a panel: a left panel stays in the first-level cache */
#define LE_PANEL_SLACK 64   /* bytes behind packed panels that packing may write */
#define LE_PANEL_SUMS  2048 /* bytes that the sums of two panels take, at most */
#define LE_DOT_BYTES   128  /* of the sums that a row's terms go to in turn */

/* sums: rows `stride` apart; add: to what they hold. */
typedef void le_panel_product(int64_t terms, const void *left, const void *right, void *sums, int64_t stride, bool add);
/* Panels of `group` lines (rows or columns), lines that lack in the last one 0:
 * packed[i / group * term_count * group + k * group + i % group] = at[lines[i] + terms[k]]. */
typedef void le_panel_pack(void *packed, const void *at, const int64_t *lines, int64_t line_count, const int64_t *terms,
                           int64_t term_count, int64_t group);
/* sums[i] is the sum of matrix[i * stride + k] * vector[k], or, by columns, of matrix[k * stride + i] * vector[k]. */
typedef void le_vector_product(int64_t rows, int64_t terms, const void *matrix, int64_t stride, const void *vector,
                               void *sums);
struct le_products {
    int rows, columns;
    int64_t terms; /* that are packed at once */
    int64_t block; /* columns whose right panels stay in the second-level cache */
    le_panel_product *run;
    le_panel_pack *pack;
    le_vector_product *by_rows, *by_columns; /* of floats */
};
#define LE_PANELS(set) bool le_panels_find_##set(enum le_type factors, enum le_type sums, struct le_products *out);
LE_PANELS(baseline)
LE_PANELS(avx2)
LE_PANELS(avx512)
#undef LE_PANELS
/* false: there is none for these types. */
bool le_products_find(enum le_simd simd, enum le_type factors, enum le_type sums, struct le_products *out);
#endif
