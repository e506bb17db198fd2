/* Fuzzes the reader of the IR's text. Text that it accepts is printed and read again, and must be the same. IR that the
 * verifier accepts must still be valid after the passes. */
#include "base/text.h"
#include "ir/ir.h"
#include "tests/ir/reader/ir_reader.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

static void require(bool holds) {
    if (!holds)
        abort();
}

static void compare(struct le_arena *arena, const struct le_ir *ir, struct le_text *first, struct le_text *second) {
    struct le_ir *again;
    le_ir_print(ir, first);
    le_text_add(first, "%s", "");
    require(!first->failed && le_ir_read(arena, first->at, first->length, &again) == LEAT_OK);
    le_ir_print(again, second);
    le_text_add(second, "%s", "");
    require(strcmp(first->at, second->at) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes) {
    struct le_text first = {0}, second = {0};
    struct le_arena arena;
    struct le_ir *ir;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        abort();
    if (le_ir_read(&arena, (const char *)bytes, size_bytes, &ir) != LEAT_OK) {
        require(le_error_at(0)->code == LEAT_PROGRAM && le_error_at(0)->line > 0);
    } else {
        compare(&arena, ir, &first, &second);
        if (le_ir_verify(ir) == LEAT_OK)
            require(le_passes_run(ir) == LEAT_OK);
    }
    le_text_finish(&first);
    le_text_finish(&second);
    le_arena_finish(&arena);
    return 0;
}
