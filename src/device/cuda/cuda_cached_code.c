/* See cuda_cached_code.h. A value consists of a header with sizes, the image, the PTX, the log and the lowered names,
 * each followed by a NUL. */
#include "device/cuda/cuda_cached_code.h"
#include "base/memory.h"
#include "device/cuda/nvrtc_identity.h"
#include <stdio.h>
#include <string.h>

/* Version of the value's format and of how code is compiled (cuda_compile.c). A new version does not find entries of
 * the old one. */
enum { FORMAT = 1 };

struct header {
    uint64_t image_bytes, ptx_bytes, log_bytes, names_bytes;
};

/* ---- the key */

static void add_string(struct le_text *key, const char *name, const char *text) {
    le_text_add(key, "%s %zu:%s\n", name, strlen(text), text);
}

static void add_list(struct le_text *key, const char *name, const char *const *list) {
    for (; list && *list; list++)
        add_string(key, name, *list);
}

bool le_cuda_cached_code_key(struct le_cuda_device *cuda, const struct le_module_source *source, struct le_text *key) {
    struct le_store *store = le_device_store(cuda->device);
    if (!source->is_whole || !store)
        return false;
    le_text_add(key, "leat %d.%d.%d, code %d, %s\n", LEAT_VERSION_MAJOR, LEAT_VERSION_MINOR, LEAT_VERSION_PATCH, FORMAT,
                cuda->device->limits.architecture);
    if (!(cuda->nvrtc ? cuda->nvrtc->identify && cuda->nvrtc->identify(key) : le_nvrtc_identify(store, key)))
        return false;
    add_string(key, "name", source->name);
    add_list(key, "macro", source->macros);
    add_list(key, "include", source->include_paths);
    add_list(key, "option", source->options);
    add_list(key, "instance", source->names);
    le_text_add(key, "lines %d, plain %d\n", source->line_info, source->is_plain);
    le_text_add_bytes(key, source->text, strlen(source->text));
    return !key->failed;
}

/* ---- the value */

static bool pack_code(const struct le_device_module *module, const struct le_cuda_image *image, struct le_text *value) {
    struct header header = {image->size_bytes, strlen(module->ptx), strlen(module->log), 0};
    for (int k = 0; k < module->name_count; k++)
        header.names_bytes += strlen(module->names[k].expression) + strlen(module->names[k].lowered) + 2;
    le_text_add_bytes(value, &header, sizeof header);
    le_text_add_bytes(value, image->bytes, header.image_bytes);
    le_text_add_bytes(value, module->ptx, header.ptx_bytes + 1);
    le_text_add_bytes(value, module->log, header.log_bytes + 1);
    for (int k = 0; k < module->name_count; k++) {
        le_text_add_bytes(value, module->names[k].expression, strlen(module->names[k].expression) + 1);
        le_text_add_bytes(value, module->names[k].lowered, strlen(module->names[k].lowered) + 1);
    }
    return !value->failed;
}

/* Reads pairs of strings. false: out of memory. */
static bool unpack_names(const char *bytes, size_t size_bytes, struct le_device_module *module) {
    size_t count = 0;
    for (size_t k = 0; k < size_bytes; k++)
        count += bytes[k] == 0;
    module->names = le_alloc_zero(count / 2 + 1, sizeof *module->names);
    for (; module->names && module->name_count < (int)(count / 2); module->name_count++) {
        struct le_module_name *name = &module->names[module->name_count];
        name->expression = le_strdup(bytes);
        bytes += strlen(bytes) + 1;
        name->lowered = le_strdup(bytes);
        bytes += strlen(bytes) + 1;
        if (!name->expression || !name->lowered) {
            module->name_count++;
            return false;
        }
    }
    return module->names != NULL;
}

static void free_code(struct le_device_module *module, struct le_cuda_image *image) {
    for (int k = 0; k < module->name_count; k++) {
        le_free(module->names[k].expression);
        le_free(module->names[k].lowered);
    }
    le_free(module->names);
    le_free(module->ptx);
    le_free(module->log);
    le_free(image->bytes);
    module->names = NULL;
    module->name_count = 0;
    module->ptx = module->log = NULL;
    *image = (struct le_cuda_image){0};
}

/* Whether the sizes in the header add up to the value's size. */
static bool sizes_add_up(const struct header *header, size_t value_bytes) {
    size_t all_bytes = sizeof *header + 2;
    return !__builtin_add_overflow(all_bytes, header->image_bytes, &all_bytes) &&
           !__builtin_add_overflow(all_bytes, header->ptx_bytes, &all_bytes) &&
           !__builtin_add_overflow(all_bytes, header->log_bytes, &all_bytes) &&
           !__builtin_add_overflow(all_bytes, header->names_bytes, &all_bytes) && all_bytes == value_bytes;
}

static bool unpack_code(const char *value, size_t value_bytes, struct le_device_module *module,
                        struct le_cuda_image *image) {
    struct header header;
    if (value_bytes < sizeof header)
        return false;
    memcpy(&header, value, sizeof header);
    if (!sizes_add_up(&header, value_bytes))
        return false;
    const char *code = value + sizeof header, *ptx = code + header.image_bytes, *log = ptx + header.ptx_bytes + 1;
    image->size_bytes = header.image_bytes;
    image->bytes = le_alloc(header.image_bytes + 1);
    module->ptx = le_strdup(ptx);
    module->log = le_strdup(log);
    bool all = image->bytes && module->ptx && module->log &&
               unpack_names(log + header.log_bytes + 1, header.names_bytes, module);
    if (all)
        memcpy(image->bytes, code, header.image_bytes);
    else
        free_code(module, image);
    return all;
}

/* ---- get and put */

bool le_cuda_cached_code_get(struct le_cuda_device *cuda, const struct le_text *key, struct le_device_module *module,
                             struct le_cuda_image *image, bool *damaged) {
    void *value;
    size_t value_bytes;
    struct le_store *store = le_device_store(cuda->device);
    *damaged = false;
    bool found = store && le_store_get(store, key->at, key->length, &value, &value_bytes, damaged);
    if (found) {
        found = unpack_code(value, value_bytes, module, image);
        le_free(value);
    }
    le_device_store_used(cuda->device);
    return found;
}

void le_cuda_cached_code_put(struct le_cuda_device *cuda, const struct le_module_source *source,
                             const struct le_text *key, const struct le_device_module *module,
                             const struct le_cuda_image *image) {
    struct le_text value = {0};
    struct le_store *store = le_device_store(cuda->device);
    char label[LE_STORE_LABEL_BYTES];
    const struct le_device_limits *limits = &cuda->device->limits;
    const char *folders = source->owner ? strrchr(source->owner, '/') : NULL;
    const char *owner = folders ? folders + 1 : source->owner; /* a program's file name, without its folders */
    snprintf(label, sizeof label, "%s %.40s%s%s", cuda->is_sim ? limits->kind : limits->architecture,
             owner ? owner : "", owner ? ": " : "", source->label ? source->label : source->name);
    if (store && pack_code(module, image, &value))
        le_store_put(store, label, key->at, key->length, value.at, value.length);
    le_text_finish(&value);
    le_device_store_used(cuda->device);
}
