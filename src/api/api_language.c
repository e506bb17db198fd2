/* leat.h: values as text. */
#include "api/api_check.h"
#include "base/decimal.h"
#include "spec/type.h"

_Static_assert((int)LEAT_FLOAT_TEXT_BYTES == (int)LE_DECIMAL_TEXT_BYTES, "leat.h has its own name for it");

leat_status leat_float_text(leat_dtype dtype, double value, int precision_digits, char text[LEAT_FLOAT_TEXT_BYTES]) {
    LE_CHECK_POINTER(text);
    enum le_type type = (enum le_type)dtype;
    if (!leat_dtype_size_bytes(dtype) || !le_type_is_float(type))
        return le_fail(LEAT_INVALID, "dtype is %s, which is not a float type", leat_dtype_name(dtype));
    if (precision_digits < 0 || precision_digits > 17)
        return le_fail(LEAT_INVALID, "precision_digits is %d: it must be from 0 to 17", precision_digits);
    le_decimal_text(value, le_type_bits(type), precision_digits, text);
    return LEAT_OK;
}
