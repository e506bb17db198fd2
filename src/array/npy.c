/* Loads and saves .npy files: elements are used in place, copied or converted. */
#include "array/npy.h"
#include "array/file.h"
#include "base/file_out.h"
#include "spec/type.h"
#include <string.h>

#define IN_PLACE_MIN_BYTES ((size_t)64 << 10) /* below this size a copy is cheaper than a mapping */

/* ---- in */

static leat_status check_data(const char *name, const struct le_npy_header *header, size_t size_bytes) {
    size_t there = size_bytes - header->data_offset;
    if (header->data_bytes > there)
        return le_fail(LEAT_FILE, "%s: its header claims %zu bytes of elements, but it has %zu", name,
                       header->data_bytes, there);
    return LEAT_OK;
}

static void swap_bytes(size_t size, uint8_t *at, size_t size_bytes) {
    for (uint8_t *end = at + size_bytes; at < end; at += size)
        for (size_t k = 0; k < size / 2; k++) {
            uint8_t byte = at[k];
            at[k] = at[size - 1 - k];
            at[size - 1 - k] = byte;
        }
}

void le_npy_normalise(const struct le_npy_header *header, void *data) {
    uint8_t *at = data;
    if (header->swapped)
        swap_bytes(le_type_size(le_type_part((enum le_type)header->dtype)), at, header->data_bytes);
    if (header->dtype == LEAT_BOOL)
        for (size_t k = 0; k < header->data_bytes; k++)
            at[k] = at[k] != 0;
}

static void take_layout(leat_array *array, const struct le_npy_header *header) {
    for (int k = 0; k < header->rank; k++)
        array->strides[k] = header->strides[k];
}

static leat_status copy_in(struct le_memory_pool *pool, const struct le_npy_header *header, const uint8_t *bytes,
                           leat_array **array) {
    leat_array *made;
    leat_status status = le_array_new(pool, header->dtype, header->rank, header->shape, false, &made);
    if (status)
        return status;
    take_layout(made, header);
    if (header->data_bytes)
        memcpy(made->data, bytes + header->data_offset, header->data_bytes);
    le_npy_normalise(header, made->data);
    *array = made;
    return LEAT_OK;
}

leat_status le_npy_load(struct le_memory_pool *pool, const char *name, const uint8_t *bytes, size_t size_bytes,
                        leat_dtype declared, leat_array **array) {
    struct le_npy_header header;
    leat_status status = le_npy_header_read(name, bytes, size_bytes, declared, &header);
    if (!status)
        status = check_data(name, &header, size_bytes);
    return status ? status : copy_in(pool, &header, bytes, array);
}

/* ---- in: from a file */

/* bytes has room for LE_NPY_HEADER_MAX. */
static leat_status read_header_into(const struct le_file_in *in, uint8_t *bytes, leat_dtype declared,
                                    struct le_npy_header *header) {
    size_t header_bytes, got = 0;
    memcpy(bytes, in->head, in->head_bytes);
    leat_status status = le_npy_header_size(in->name, bytes, in->head_bytes, &header_bytes);
    if (!status && header_bytes > in->head_bytes)
        status = le_file_in_read(in, bytes + in->head_bytes, header_bytes - in->head_bytes, &got);
    if (!status)
        status = le_npy_header_read(in->name, bytes, in->head_bytes + got, declared, header);
    return !status && in->has_size ? check_data(in->name, header, in->size_bytes) : status;
}

static leat_status read_header(const struct le_file_in *in, leat_dtype declared, struct le_npy_header *header) {
    uint8_t *bytes = le_alloc(LE_NPY_HEADER_MAX);
    if (!bytes)
        return le_fail_out_of_memory(LE_NPY_HEADER_MAX);
    leat_status status = read_header_into(in, bytes, declared, header);
    le_free(bytes);
    return status;
}

static leat_status read_elements(const struct le_file_in *in, const struct le_npy_header *header, leat_array *array) {
    size_t got;
    leat_status status = le_file_in_read(in, array->data, header->data_bytes, &got);
    if (!status && got < header->data_bytes)
        status = le_fail(LEAT_FILE, "%s: its header claims %zu bytes of elements, but it has %zu", in->name,
                         header->data_bytes, got);
    if (!status)
        le_npy_normalise(header, array->data);
    return status;
}

static leat_status read_array(struct le_memory_pool *pool, const struct le_file_in *in,
                              const struct le_npy_header *header, leat_array **array) {
    leat_array *made;
    leat_status status = le_array_new(pool, header->dtype, header->rank, header->shape, false, &made);
    if (status)
        return le_fail_prefix(status, "%s", in->name);
    take_layout(made, header);
    status = read_elements(in, header, made);
    if (status)
        le_array_free(made);
    else
        *array = made;
    return status;
}

static bool clean_bools(const uint8_t *at, size_t count) {
    uint8_t all = 0;
    for (size_t k = 0; k < count; k++)
        all |= at[k];
    return all <= 1;
}

static bool may_be_used_in_place(const struct le_npy_header *header) {
    return header->data_bytes >= IN_PLACE_MIN_BYTES && !header->swapped &&
           header->data_offset % le_type_size(le_type_part((enum le_type)header->dtype)) == 0;
}

static leat_status wrap_mapped(struct le_memory_pool *pool, const struct le_npy_header *header,
                               const struct le_file_bytes *bytes, leat_array **array) {
    uint8_t *at = (uint8_t *)(uintptr_t)bytes->at;
    leat_description description = {
        .dtype = header->dtype, .rank = header->rank, .data = at + header->data_offset, .read_only = true};
    memcpy(description.shape, header->shape, sizeof header->shape);
    memcpy(description.strides, header->strides, sizeof header->strides);
    return le_array_wrap_mapping(pool, &description, at, bytes->size_bytes, array);
}

/* Maps the file. *array stays NULL if the elements must be read instead. */
static leat_status map_array(struct le_memory_pool *pool, const struct le_file_in *in,
                             const struct le_npy_header *header, leat_array **array) {
    struct le_file_bytes bytes;
    leat_status status = le_file_in_map(in, header->data_offset + header->data_bytes, &bytes);
    if (status == LEAT_FILE) {
        le_errors_clear();
        return LEAT_OK;
    }
    if (status)
        return status;
    if (header->dtype != LEAT_BOOL || clean_bools(bytes.at + header->data_offset, header->data_bytes))
        status = wrap_mapped(pool, header, &bytes, array);
    if (!*array)
        le_file_bytes_finish(&bytes);
    return status;
}

leat_status le_npy_load_file(struct le_memory_pool *pool, const struct le_file_in *in, leat_dtype declared,
                             leat_array **array) {
    struct le_npy_header header;
    leat_array *made = NULL;
    leat_status status = read_header(in, declared, &header);
    if (!status && may_be_used_in_place(&header))
        status = map_array(pool, in, &header, &made);
    if (!status && !made)
        status = read_array(pool, in, &header, &made);
    if (!status)
        *array = made;
    return status;
}

/* ---- out */

/* Whether the array is dense in column-major order. */
static bool is_fortran(const leat_array *array) {
    leat_array turned = *array;
    for (int k = 0; k < array->rank; k++) {
        turned.shape[k] = array->shape[array->rank - 1 - k];
        turned.strides[k] = array->strides[array->rank - 1 - k];
    }
    return !le_array_is_contiguous(array) && le_array_is_contiguous(&turned);
}

leat_status le_npy_save(const leat_array *array, const char *path, const leat_save_options *options) {
    char header[LE_NPY_OUT_MAX];
    bool fortran = is_fortran(array);
    size_t header_bytes = le_npy_header_write(array, fortran, header);
    leat_array *dense = NULL;
    struct le_file_out out;
    leat_status status = LEAT_OK;
    if (!fortran) /* retains or copies; the elements are only read */
        status = le_array_dense((leat_array *)(uintptr_t)array, &dense);
    if (!status)
        status = le_file_out_open(path, options, &out);
    if (!status) {
        status = le_file_out_write(&out, header, header_bytes);
        if (!status)
            status = le_file_out_write(&out, (dense ? dense : array)->data, le_array_bytes(array));
        status = le_file_out_close(&out, status);
    }
    le_array_free(dense);
    return status;
}

leat_status le_npy_save_memory(const leat_array *array, void **bytes, size_t *size_bytes) {
    char header[LE_NPY_OUT_MAX];
    size_t header_bytes = le_npy_header_write(array, false, header);
    size_t total = header_bytes + le_array_bytes(array);
    leat_array *host = NULL;
    char *made = le_alloc(total);
    leat_status status = made ? le_array_host(array, &host) : le_fail_out_of_memory(total);
    if (status) {
        le_free(made);
        return status;
    }
    memcpy(made, header, header_bytes);
    le_array_read(host, made + header_bytes);
    le_array_free(host);
    *bytes = made;
    *size_bytes = total;
    return LEAT_OK;
}
