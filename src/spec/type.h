/* Element types, four weak types, and their promotion as in NumPy 2 (NEP 50). Strong types have the numbers of
 * leat_dtype. `lang` splits complex types into their parts, so that later rooms see real types only. */
#ifndef LE_TYPE_H
#define LE_TYPE_H
#include "leat.h"

enum le_type {
    LE_NONE = 0,
    LE_BOOL = LEAT_BOOL,
    LE_I8,
    LE_I16,
    LE_I32,
    LE_I64,
    LE_U8,
    LE_U16,
    LE_U32,
    LE_U64,
    LE_F16,
    LE_BF16,
    LE_F32,
    LE_F64,
    LE_C64,
    LE_C128,
    LE_TYPES,               /* number of strong types, LE_NONE included */
    LE_WEAK_INT = LE_TYPES, /* an integer literal, or an integer set by the caller */
    LE_WEAK_INDEX,          /* an index, a size, len: i64 with integers, weak with floats */
    LE_WEAK_FLOAT,
    LE_WEAK_COMPLEX,
    LE_TYPES_ALL
};
const char *le_type_name(enum le_type type);                 /* of a weak type: the name of its strong type */
enum le_type le_type_parse(const char *name, size_t length); /* LE_NONE: not a type */
size_t le_type_size(enum le_type type);                      /* in bytes, of the strong type */
enum le_type le_type_strong(enum le_type type);              /* i64, f64 or c128 for a weak one */
enum le_type le_type_compute(enum le_type type); /* the strong type in which arithmetic runs: f32 for f16 and bf16 */
bool le_type_is_weak(enum le_type type);
bool le_type_is_int(enum le_type type); /* signed, unsigned or weak; not bool */
bool le_type_is_unsigned(enum le_type type);
bool le_type_is_float(enum le_type type);     /* weak float included */
bool le_type_is_half(enum le_type type);      /* f16 or bf16 */
bool le_type_is_complex(enum le_type type);   /* weak complex included */
enum le_type le_type_part(enum le_type type); /* type of a complex type's parts: f32, f64 or weak float; else itself */
/* The width of an integer; the precision of a float or of a complex number's parts. */
int le_type_bits(enum le_type type);
const char *le_type_npy(enum le_type type); /* NumPy's code without byte order: "f4" */
enum le_type le_type_promote(enum le_type a, enum le_type b);
enum le_type le_type_to_float(enum le_type type); /* result of a float function: weak float, f64, or the type itself */
enum le_type le_type_summed(enum le_type type);   /* result of a sum or product */
#endif
