/* Fuzzes the reader of kernel trees. Text that it accepts is printed and read again, and must be the same. Trees that
 * the verifier accepts print as CUDA C, and are still valid after the sweep. */
#include "base/status.h"
#include "base/text.h"
#include "gen/cuda/cuda_print.h"
#include "tests/ktree/reader/ktree_reader.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

static void require(bool holds) {
    if (!holds)
        abort();
}

static void print_and_read(struct le_arena *arena, const struct le_kernel_tree *tree) {
    struct le_text first = {0}, second = {0};
    struct le_kernel_tree *again;
    le_ktree_print(tree, &first);
    require(!first.failed && le_ktree_read(arena, first.at, first.length, &again) == LEAT_OK);
    le_ktree_print(again, &second);
    require(first.length == second.length && memcmp(first.at, second.at, first.length) == 0);
    le_text_finish(&first);
    le_text_finish(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes) {
    struct le_arena arena;
    struct le_kernel_tree *tree;
    struct words code = {0};
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        abort();
    if (le_ktree_read(&arena, (const char *)bytes, size_bytes, &tree) != LEAT_OK) {
        require(le_error_at(0)->code == LEAT_PROGRAM && le_error_at(0)->line > 0);
    } else {
        print_and_read(&arena, tree);
        if (le_ktree_verify(tree) == LEAT_OK) {
            le_cuda_print(tree, &code);
            le_ktree_sweep(tree);
            require(le_ktree_verify(tree) == LEAT_OK);
            print_and_read(&arena, tree);
        }
    }
    le_arena_finish(&arena);
    return 0;
}
