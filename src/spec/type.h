/* Element types and NumPy 2's promotion (NEP 50) over them and four weak ones. leat_dtype's numbers are the strong
 * types'. Complex types end in lang: what comes below has real ones only. */
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
    LE_TYPES,               /* one past the strong ones */
    LE_WEAK_INT = LE_TYPES, /* a whole literal, or a whole number of the caller's */
    LE_WEAK_INDEX,          /* an index, a size, len: i64 beside integers, weak beside floats */
    LE_WEAK_FLOAT,
    LE_WEAK_COMPLEX,
    LE_TYPES_ALL
};
const char *le_type_name(enum le_type type);                 /* a weak type has its strong one's name */
enum le_type le_type_parse(const char *name, size_t length); /* LE_NONE: no type's name */
size_t le_type_size(enum le_type type);                      /* bytes; of the strong type */
enum le_type le_type_strong(enum le_type type);              /* i64, f64 or c128 for a weak one */
enum le_type le_type_compute(enum le_type type); /* what arithmetic on it runs in: f32 for f16 and bf16; strong */
bool le_type_is_weak(enum le_type type);
bool le_type_is_int(enum le_type type); /* signed, unsigned or weak; not bool */
bool le_type_is_unsigned(enum le_type type);
bool le_type_is_float(enum le_type type);     /* weak float included */
bool le_type_is_half(enum le_type type);      /* a float of 16 bits, of either kind */
bool le_type_is_complex(enum le_type type);   /* weak complex included */
enum le_type le_type_part(enum le_type type); /* of a complex type: its parts', f32, f64 or weak float; else itself */
int le_type_bits(
    enum le_type type); /* of an integer: its width; of a float, or a complex number's part: its significand */
const char *le_type_npy(enum le_type type); /* "f4": without byte order */
enum le_type le_type_promote(enum le_type a, enum le_type b);
enum le_type le_type_to_float(enum le_type type); /* of a float function of it: weak float, f64, or itself */
enum le_type le_type_summed(enum le_type type);   /* of a sum or product over it */
#endif
