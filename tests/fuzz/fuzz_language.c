/* Fuzzes the language. The text is checked, printed, given inputs for its names, and compiled to IR. If all its extents
 * are those of its inputs, it is also compiled to bytecode and run; other extents, and a `while`, may take any number
 * of steps. No text may crash, hang or leak; sanitizers check this. */
#include "leat.h"
#include <stdlib.h>
#include <string.h>

enum { EXTENT = 4, INDICES_MAX = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

/* An input has its declared type. Otherwise the type is derived from the text, so that the corpus covers several. */
static leat_dtype type_for(const leat_name_info *info, const uint8_t *bytes, size_t size_bytes) {
    unsigned choice = 0;
    for (size_t k = 0; k < size_bytes; k++)
        choice = choice * 31 + bytes[k];
    for (const char *name = info->name; *name; name++)
        choice += (unsigned char)*name;
    return info->dtype ? info->dtype : (leat_dtype)(LEAT_BOOL + choice % (LEAT_F64 - LEAT_BOOL + 1));
}

static void bind(leat_context *ctx, leat_call *call, const leat_name_info *info, leat_dtype dtype) {
    static const int64_t shape[LEAT_RANK_MAX] = {EXTENT, EXTENT, EXTENT, EXTENT, EXTENT, EXTENT, EXTENT, EXTENT};
    leat_array *array = NULL;
    const int rank = info->rank < 0 ? 2 : info->rank;
    if (info->optional)
        return;
    if (rank == 0 && !info->dtype && dtype % 3 == 0) {
        leat_call_set_i64(call, info->name, 3);
        return;
    }
    if (!leat_array_new(ctx, dtype, rank, shape, LEAT_MEMORY_DEVICE, &array))
        leat_call_set_array(call, info->name, array);
    leat_array_free(array);
}

/* Whether the program has no explicit ranges, sizes and loop conditions, and few indices: a statement then takes at
 * most EXTENT to the power of INDICES_MAX steps. */
static bool is_short(leat_program *program, const uint8_t *bytes, size_t size_bytes) {
    static const char *const unbounded[] = {"..", "out", "var", "while"};
    size_t count = 0;
    leat_program_count(program, LEAT_NAME_INDEX, &count);
    for (size_t k = 0; k < sizeof unbounded / sizeof *unbounded; k++)
        if (memmem(bytes, size_bytes, unbounded[k], strlen(unbounded[k])))
            return false;
    return count <= INDICES_MAX;
}

static void compile(leat_context *ctx, leat_program *program, const uint8_t *bytes, size_t size_bytes) {
    leat_call *call = NULL;
    leat_name_info info;
    size_t count = 0;
    if (leat_call_new(program, &call))
        abort();
    leat_program_count(program, LEAT_NAME_INPUT, &count);
    for (size_t k = 0; k < count; k++)
        if (!leat_program_name(program, LEAT_NAME_INPUT, k, &info))
            bind(ctx, call, &info, type_for(&info, bytes, size_bytes));
    const bool is_bounded = is_short(program, bytes, size_bytes);
    for (leat_form form = LEAT_FORM_IR; form <= (is_bounded ? LEAT_FORM_BYTECODE : LEAT_FORM_IR); form++) {
        char *text = NULL;
        if (leat_call_show(call, form, &text) == LEAT_INTERNAL)
            abort();
        leat_memory_free(text);
    }
    if (is_bounded && leat_call_run(call, NULL, NULL) == LEAT_INTERNAL)
        abort();
    leat_call_free(call);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes) {
    static leat_context *ctx;
    const leat_options options = {.threads = 1, .memory_cap_bytes = 64 << 20};
    leat_program *program = NULL;
    char *text = NULL;
    if (!ctx && leat_open(&options, &ctx))
        abort();
    if (size_bytes == 0)
        return 0;
    const leat_status status = leat_program_new(ctx, (const char *)bytes, size_bytes, NULL, &program);
    if (status) {
        const char *said = leat_error_text(ctx);
        if (status == LEAT_INTERNAL || !said || !*said)
            abort();
        return 0;
    }
    if (leat_program_show(program, LEAT_FORM_TREE, &text))
        abort();
    leat_memory_free(text);
    compile(ctx, program, bytes, size_bytes);
    leat_program_free(program);
    return 0;
}
