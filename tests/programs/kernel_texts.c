/* See kernel_texts.h. */
#include "tests/programs/kernel_texts.h"
#include "base/status.h"
#include "base/text.h"
#include "gen/cuda/cuda_print.h"
#include "tests/ktree/reader/ktree_reader.h"
#include <stdio.h>
#include <string.h>

static bool wrong(const char *what, const char *text, int length) {
    fprintf(stderr, "%s\n%.*s\n", what, length, text);
    return false;
}

static bool agree(struct le_arena *arena, const char *text, size_t length, const char *cuda) {
    struct le_kernel_tree *tree;
    struct le_text again = {0};
    struct words code = {0};
    if (setjmp(arena->failure))
        return wrong("out of memory", "", 0);
    if (le_ktree_read(arena, text, length, &tree) || le_ktree_verify(tree))
        return wrong(le_error_at(0)->message, text, (int)length);
    le_ktree_print(tree, &again);
    bool same = again.length == length && memcmp(again.at, text, length) == 0;
    if (!same)
        wrong("read back, it is", again.at, (int)again.length);
    le_text_finish(&again);
    le_cuda_print(tree, &code);
    if (same && !strstr(cuda, code.at))
        return wrong("read back, its CUDA C is", code.at, (int)code.length);
    return same || wrong("and not", text, (int)length);
}

bool kernel_texts_agree(const char *kernels, const char *cuda, int *count) {
    bool right = true;
    for (const char *end; *kernels && right; kernels = end + (*end == '\n')) {
        struct le_arena arena;
        end = strstr(kernels, "\n}\n");
        end = end ? end + 3 : kernels + strlen(kernels);
        le_arena_init(&arena);
        right = agree(&arena, kernels, (size_t)(end - kernels), cuda);
        le_arena_finish(&arena);
        ++*count;
    }
    return right;
}
