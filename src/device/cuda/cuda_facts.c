/* Facts about a device before it has a context, and whether it is usable. */
#include "device/cuda/cuda_libraries.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static leat_status fail_call(const struct le_cuda_driver *driver, const char *call, le_cu_result error) {
    const char *text = NULL;
    driver->GetErrorString(error, &text);
    return le_fail(LEAT_DEVICE, "%s: %s (%d)", call, text ? text : "unknown error", error);
}

leat_status le_cuda_facts_init(const struct le_cuda_driver *driver) {
    le_cu_result error = driver->Init(0);
    return error ? fail_call(driver, "cuInit", error) : LEAT_OK;
}

leat_status le_cuda_facts_count(const struct le_cuda_driver *driver, int *count) {
    le_cu_result error = driver->DeviceGetCount(count);
    return error ? fail_call(driver, "cuDeviceGetCount", error) : LEAT_OK;
}

/* Does nothing after an error. */
static int device_attribute(const struct le_cuda_driver *driver, le_cu_device device, le_cu_device_attribute which,
                            le_cu_result *error) {
    int value = 0;
    if (!*error)
        *error = driver->DeviceGetAttribute(&value, which, device);
    return value;
}

static void write_uuid(const le_cu_uuid *uuid, char *text, size_t size_bytes) {
    size_t length = (size_t)snprintf(text, size_bytes, "GPU");
    for (int k = 0; k < 16 && length < size_bytes; k++) {
        bool dash = k == 0 || k == 4 || k == 6 || k == 8 || k == 10;
        length += (size_t)snprintf(text + length, size_bytes - length, "%s%02x", dash ? "-" : "", uuid->bytes[k]);
    }
}

static void check_usable(struct le_cuda_facts *facts, int compute_mode) {
    if (facts->capability < LE_CUDA_CAPABILITY_MIN)
        snprintf(facts->reason, sizeof facts->reason, "compute capability %d.%d; %d.%d or higher is needed",
                 facts->capability / 10, facts->capability % 10, LE_CUDA_CAPABILITY_MIN / 10,
                 LE_CUDA_CAPABILITY_MIN % 10);
    else if (compute_mode == LE_CU_COMPUTEMODE_PROHIBITED)
        snprintf(facts->reason, sizeof facts->reason,
                 "its compute mode is \"prohibited\": an administrator can change it with nvidia-smi -c");
    facts->usable = !facts->reason[0];
}

/* The memory transfers twice in a clock. */
static void find_clocks(const struct le_cuda_driver *driver, struct le_cuda_facts *facts) {
    int clock_khz = 0, memory_khz = 0, bits = 0;
    if (driver->DeviceGetAttribute(&clock_khz, LE_CU_DEVICE_ATTRIBUTE_CLOCK_RATE, facts->device) ||
        driver->DeviceGetAttribute(&memory_khz, LE_CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, facts->device) ||
        driver->DeviceGetAttribute(&bits, LE_CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, facts->device))
        return;
    facts->clock_hz = 1e3 * clock_khz;
    facts->memory_bytes_per_second = 2e3 * memory_khz * bits / 8;
}

leat_status le_cuda_facts_get(const struct le_cuda_driver *driver, int ordinal, struct le_cuda_facts *facts) {
    le_cu_uuid uuid = {{0}};
    struct le_cuda_facts found = {.ordinal = ordinal};
    le_cu_result error = driver->DeviceGet(&found.device, ordinal);
    if (error)
        return fail_call(driver, "cuDeviceGet", error);
    error = driver->DeviceGetName(found.name, sizeof found.name, found.device);
    if (error)
        return fail_call(driver, "cuDeviceGetName", error);
    error = driver->DeviceTotalMem(&found.memory_bytes, found.device);
    if (error)
        return fail_call(driver, "cuDeviceTotalMem", error);
    if (!driver->DeviceGetUuid(&uuid, found.device))
        write_uuid(&uuid, found.uuid, sizeof found.uuid);
    if (driver->DeviceGetPCIBusId(found.pci_id, sizeof found.pci_id, found.device))
        found.pci_id[0] = 0;
    found.capability =
        10 * device_attribute(driver, found.device, LE_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &error) +
        device_attribute(driver, found.device, LE_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &error);
    found.multiprocessors = device_attribute(driver, found.device, LE_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &error);
    if (driver->DeviceGetAttribute(&found.f64_ratio, LE_CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,
                                   found.device))
        found.f64_ratio = 0; /* not every driver supports it */
    find_clocks(driver, &found);
    int compute_mode = device_attribute(driver, found.device, LE_CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, &error);
    if (error)
        return fail_call(driver, "cuDeviceGetAttribute", error);
    check_usable(&found, compute_mode);
    *facts = found;
    return LEAT_OK;
}

/* ---- CUDA_VISIBLE_DEVICES: numbers and UUIDs separated by commas. A UUID is "GPU-" or "MIG-" and enough hexadecimal
 * digits to be unique. The driver silently stops at the first item that it does not understand. */

struct item {
    const char *at;
    int length, number; /* number: its position in the list, from 1 */
};

static bool is_number(const struct item *item) {
    for (int k = 0; k < item->length; k++)
        if (!isdigit((unsigned char)item->at[k]))
            return false;
    return item->length > 0;
}

static bool is_uuid(const struct item *item) {
    if (item->length < 5 || (strncmp(item->at, "GPU-", 4) != 0 && strncmp(item->at, "MIG-", 4) != 0))
        return false;
    for (int k = 4; k < item->length; k++) /* MIG-GPU-...:/7/0 in older drivers */
        if (!isxdigit((unsigned char)item->at[k]) && !strchr("-/GPU", item->at[k]))
            return false;
    return true;
}

static struct item next_item(const char **rest, int number) {
    struct item item = {.at = *rest + strspn(*rest, " \t"), .number = number};
    const char *end = *rest + strcspn(*rest, ",");
    *rest = *end ? end + 1 : NULL;
    while (end > item.at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    item.length = end > item.at ? (int)(end - item.at) : 0;
    return item;
}

/* Whether the item repeats an earlier one. */
static bool is_repeated(const char *value, const struct item *item) {
    for (int k = 1; k < item->number; k++) {
        struct item before = next_item(&value, k);
        if (is_number(item) && is_number(&before)
                ? strtoull(before.at, NULL, 10) == strtoull(item->at, NULL, 10)
                : before.length == item->length && strncmp(before.at, item->at, (size_t)item->length) == 0)
            return true;
    }
    return false;
}

bool le_cuda_visible_error(const char *value, char *why, size_t size_bytes) {
    const char *rest = value;
    if (!value[strspn(value, " \t")] || strcmp(value, "-1") == 0 || strcmp(value, "NoDevFiles") == 0)
        return false; /* hides every device */
    for (int number = 1; rest; number++) {
        struct item item = next_item(&rest, number);
        int length = item.length < 60 ? item.length : 60;
        if (item.length == 0)
            snprintf(why, size_bytes, "item %d is empty", number);
        else if (!is_number(&item) && !is_uuid(&item))
            snprintf(why, size_bytes, "item %d, \"%.*s\", is neither a number nor a UUID (GPU-...)", number, length,
                     item.at);
        else if (is_repeated(value, &item))
            snprintf(why, size_bytes, "item %d, \"%.*s\", is repeated", number, length, item.at);
        else
            continue;
        return true;
    }
    return false;
}
