/* Several attributes of a pointer in one call. For memory that the driver does not know, they are zero, without an
 * error. */
#include "sim/driver/sim_state.h"
#include <string.h>

static size_t size_of(le_cu_pointer_attribute attribute) {
    return attribute == LE_CU_POINTER_ATTRIBUTE_CONTEXT ? sizeof(le_cu_context) : sizeof(int);
}

le_cu_result le_sim_PointerGetAttributes(unsigned count, le_cu_pointer_attribute *attributes, void **values,
                                         le_cu_deviceptr address) {
    le_cu_result result = LE_CU_SUCCESS;
    for (unsigned k = 0; k < count && !result; k++) {
        result = le_sim_PointerGetAttribute(values[k], attributes[k], address);
        if (result == LE_CU_ERROR_INVALID_VALUE) {
            memset(values[k], 0, size_of(attributes[k]));
            result = LE_CU_SUCCESS;
        }
    }
    return result;
}
