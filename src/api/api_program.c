/* leat.h: programs. */
#include "api/api_check.h"
#include "base/text.h"
#include "run/program.h"
#include <string.h>

leat_status leat_program_new(leat_context *ctx, const char *text, size_t size_bytes,
                             const leat_program_options *options, leat_program **program) {
    leat_program_options all;
    LE_CHECK_CONTEXT(ctx);
    LE_CHECK_POINTER(text);
    LE_CHECK_POINTER(program);
    LE_TAKE_OPTIONS(options, leat_program_options, &all);
    return le_program_new(ctx, text, size_bytes ? size_bytes : strlen(text), all.name, program);
}

void leat_program_free(leat_program *program) {
    if (program && le_context_check(program->ctx) == LEAT_OK)
        le_program_release(program);
}

static leat_status check_program(const leat_program *program, leat_name_kind kind) {
    LE_CHECK_POINTER(program);
    LE_CHECK_CONTEXT(program->ctx);
    if ((unsigned)kind > LEAT_NAME_TEMPORARY)
        return le_fail(LEAT_INVALID, "%d is not a kind of name", (int)kind);
    return LEAT_OK;
}

leat_status leat_program_count(const leat_program *program, leat_name_kind kind, size_t *count) {
    leat_status status = check_program(program, kind);
    if (status != LEAT_OK)
        return status;
    LE_CHECK_POINTER(count);
    *count = program->name_counts[kind];
    return LEAT_OK;
}

leat_status leat_program_name(const leat_program *program, leat_name_kind kind, size_t k, leat_name_info *info) {
    leat_status status = check_program(program, kind);
    if (status != LEAT_OK)
        return status;
    LE_CHECK_POINTER(info);
    if (!le_program_name(program, kind, k, info))
        return le_fail(LEAT_INVALID, "k is %zu, which is out of range", k);
    return LEAT_OK;
}

leat_status leat_program_show(const leat_program *program, leat_form form, char **text) {
    leat_status status = check_program(program, LEAT_NAME_INPUT);
    if (status != LEAT_OK)
        return status;
    LE_CHECK_POINTER(text);
    if (form != LEAT_FORM_TREE)
        return le_fail(LEAT_INVALID, "only the tree can be shown without inputs: use leat_call_show");
    struct le_text out = {0};
    le_tree_print(program->tree, &out);
    le_text_add(&out, "%s", "");
    if (out.failed) {
        le_text_finish(&out);
        return le_fail_out_of_memory(out.capacity);
    }
    *text = out.at;
    return LEAT_OK;
}
