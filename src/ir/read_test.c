/* The IR's text: every program of the tests and examples comes back as it was, after every pass; broken text is refused
 * with a line that says why. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/text.h"
#include "ir/ir.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int programs, skipped;

/* ---- text to IR and back */

static char *text_of(const struct le_ir *ir) {
    struct le_text out = {0};
    le_ir_print(ir, &out);
    le_text_add(&out, "%s", "");
    assert_false(out.failed);
    return out.at;
}

static struct le_ir *read_back(struct le_arena *arena, const char *text) {
    struct le_ir *ir;
    if (le_ir_read(arena, text, strlen(text), &ir) != LEAT_OK)
        fail_msg("%s\n%s", le_errors_text(), text);
    return ir;
}

/* The IR as it is, and as it was read back, go through the passes side by side. */
static void compare_passes(struct le_arena *arena, struct le_ir *ir) {
    for (int k = 0;; k++) {
        char *text = text_of(ir);
        struct le_ir *copy = read_back(arena, text);
        char *again = text_of(copy);
        assert_string_equal(again, text);
        if (le_ir_verify(copy) != LEAT_OK)
            fail_msg("%s\n%s", le_errors_text(), text);
        free(again);
        free(text);
        if (!le_passes[k].name)
            return;
        le_passes[k].run(ir);
        le_passes[k].run(copy);
        text = text_of(ir);
        again = text_of(copy);
        assert_string_equal(again, text);
        free(again);
        free(text);
    }
}

static void compare_program(const char *text,
                            const struct le_input *(*inputs_of)(struct le_arena *, const struct le_tree *)) {
    struct le_arena arena;
    int *wanted, count;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    struct le_ir *ir = NULL;
    struct le_tree *tree = le_check(&arena, text, strlen(text));
    if (tree) {
        wanted = le_tree_results(&arena, tree, &count);
        const struct le_input *inputs = inputs_of(&arena, tree);
        tree = le_specialise(&arena, tree, inputs);
        if (tree)
            ir = le_lower(&arena, tree, inputs, wanted, count);
    }
    if (ir)
        compare_passes(&arena, ir);
    *(ir ? &programs : &skipped) += 1;
    le_arena_finish(&arena);
}

/* ---- programs */

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 22);
    size_t length = fread(text, 1, (1 << 22) - 1, file);
    text[length] = 0;
    fclose(file);
    return text;
}

/* Arrays of the rank that the program needs, f32 where it does not say. */
static const struct le_input *made_up(struct le_arena *arena, const struct le_tree *tree) {
    struct le_input *inputs = LE_NEW_ARRAY(arena, tree->symbol_count, struct le_input);
    for (int k = 0; k < tree->symbol_count; k++) {
        const struct le_symbol *s = tree->symbols[k];
        enum le_type type = s->declared != LE_NONE ? s->declared : s->is_array ? LE_F32 : LE_WEAK_FLOAT;
        if (s->is_input && !s->optional)
            inputs[k] = (struct le_input){true, s->is_array, type, s->is_array ? s->rank : 0};
    }
    return inputs;
}

/* The sections of the case at hand: "in NAME TYPE EXTENT...", "scalar NAME VALUE". */
static const char *sections;

static const struct le_input *of_sections(struct le_arena *arena, const struct le_tree *tree) {
    struct le_input *inputs = LE_NEW_ARRAY(arena, tree->symbol_count, struct le_input);
    for (const char *at = strstr(sections, "== "), *end = strstr(sections, "\n== end"); at && at < end;
         at = strstr(at + 3, "\n== ")) {
        char name[64], type[16], *word = strchr(at, '=');
        int axes = 0, used = 0;
        if (sscanf(word, "== in %63s %15s%n", name, type, &used) == 2) {
            int id = le_tree_find(tree, name);
            for (char *next = word + used; *next == ' ' && next[1] >= '0' && next[1] <= '9'; axes++)
                strtol(next, &next, 10);
            enum le_type t = le_type_parse(type, strlen(type));
            if (id >= 0)
                inputs[id] = (struct le_input){true, axes > 0, t, axes};
        } else if (sscanf(word, "== scalar %63s %15s", name, type) == 2) {
            int id = le_tree_find(tree, name);
            bool whole = strspn(type, "-0123456789") == strlen(type),
                 truth = *type == 't' || strcmp(type, "false") == 0;
            if (id >= 0)
                inputs[id] = (struct le_input){true, false, truth ? LE_BOOL : whole ? LE_WEAK_INT : LE_WEAK_FLOAT, 0};
        }
    }
    return inputs;
}

static void compare_cases(const char *path) {
    char *text = read_file(path);
    for (char *at = strstr(text, "== program\n"); at; at = strstr(at, "== program\n")) {
        char *start = at + strlen("== program\n"), *end = strstr(start, "\n== ");
        assert_non_null(end);
        char *program = strndup(start, (size_t)(end + 1 - start));
        sections = end + 1;
        compare_program(program, of_sections);
        free(program);
        at = end + 1;
    }
    free(text);
}

static void every_program_comes_back(void **state) {
    glob_t files;
    (void)state;
    assert_int_equal(glob("tests/programs/*.txt", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++)
        compare_cases(files.gl_pathv[k]);
    globfree(&files);
    assert_int_equal(glob("examples/*.leat", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        char *text = read_file(files.gl_pathv[k]);
        compare_program(text, made_up);
        free(text);
    }
    globfree(&files);
    print_message("%d programs, %d without IR\n", programs, skipped);
    assert_true(programs > 1000 && skipped < programs / 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_program_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
