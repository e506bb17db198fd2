/* Properties of the simulated device: there is one, with the limits of an H100 and few multiprocessors. These calls
 * need no context. Guarded by the state's lock. */
#include "sim/driver/sim_state.h"
#include <stdio.h>
#include <string.h>

le_cu_result le_sim_DriverGetVersion(int *version) {
    if (!version)
        return LE_CU_ERROR_INVALID_VALUE;
    *version = 13000;
    return LE_CU_SUCCESS;
}

le_cu_result le_sim_DeviceGetCount(int *count) {
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    if (!count)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    *count = 1;
    return le_sim_leave(LE_CU_SUCCESS);
}

le_cu_result le_sim_DeviceGet(le_cu_device *device, int ordinal) {
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    if (!device)
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    if (ordinal)
        return le_sim_leave(LE_CU_ERROR_INVALID_DEVICE);
    *device = 0;
    return le_sim_leave(LE_CU_SUCCESS);
}

/* Returns a text about the device. cut: truncate it to the caller's length; otherwise a short buffer is an error. */
static le_cu_result text_out(char *text, int length, le_cu_device device, const char *value, bool cut) {
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    if (!text || length <= 0 || (!cut && (size_t)length <= strlen(value)))
        return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
    if (device)
        return le_sim_leave(LE_CU_ERROR_INVALID_DEVICE);
    snprintf(text, (size_t)length, "%s", value);
    return le_sim_leave(LE_CU_SUCCESS);
}

le_cu_result le_sim_DeviceGetName(char *name, int length, le_cu_device device) {
    return text_out(name, length, device, "Leat simulated device", true);
}

le_cu_result le_sim_DeviceGetPCIBusId(char *id, int length, le_cu_device device) {
    return text_out(id, length, device, "0000:5e:00.0", false);
}

le_cu_result le_sim_DeviceGetUuid(le_cu_uuid *uuid, le_cu_device device) {
    static const le_cu_uuid own = {
        {0x1e, 0xa7, 0x51, 0x3d, 0x0d, 0xe1, 0x4c, 0x5e, 0x9a, 0x11, 0x5e, 0xed, 0x00, 0x00, 0x00, 0x01}};
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    if (!uuid || device)
        return le_sim_leave(uuid ? LE_CU_ERROR_INVALID_DEVICE : LE_CU_ERROR_INVALID_VALUE);
    *uuid = own;
    return le_sim_leave(LE_CU_SUCCESS);
}

le_cu_result le_sim_DeviceTotalMem(size_t *size_bytes, le_cu_device device) {
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    if (!size_bytes || device)
        return le_sim_leave(size_bytes ? LE_CU_ERROR_INVALID_DEVICE : LE_CU_ERROR_INVALID_VALUE);
    *size_bytes = le_sim_state()->options.memory_bytes;
    return le_sim_leave(LE_CU_SUCCESS);
}

static const struct {
    le_cu_device_attribute attribute;
    int value;
} attributes[] = {
    {LE_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, SIM_BLOCK_THREADS},
    {LE_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {LE_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {LE_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {LE_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {LE_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {LE_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {LE_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, SIM_SHARED_BYTES},
    {LE_CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {LE_CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {LE_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, SIM_REGISTERS},
    {LE_CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {LE_CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {LE_CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 0},
    {LE_CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {LE_CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
    {LE_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 60 << 20},
    {LE_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, SIM_MULTIPROCESSOR_THREADS},
    {LE_CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {LE_CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {LE_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {LE_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {LE_CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
    {LE_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {LE_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, SIM_SHARED_OPTIN_BYTES},
};

le_cu_result le_sim_DeviceGetAttribute(int *value, le_cu_device_attribute attribute, le_cu_device device) {
    le_cu_result result = le_sim_enter_early(SIM_CALL_FREE);
    if (result)
        return result;
    if (!value || device)
        return le_sim_leave(value ? LE_CU_ERROR_INVALID_DEVICE : LE_CU_ERROR_INVALID_VALUE);
    if (attribute == LE_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) {
        *value = le_sim_state()->options.multiprocessors;
        return le_sim_leave(LE_CU_SUCCESS);
    }
    for (size_t k = 0; k < ARRAY_LEN(attributes); k++)
        if (attributes[k].attribute == attribute) {
            *value = attributes[k].value;
            return le_sim_leave(LE_CU_SUCCESS);
        }
    return le_sim_leave(LE_CU_ERROR_INVALID_VALUE);
}
