/* The IR's text: every program of the tests and examples is read back unchanged, after every pass. Broken text is
 * rejected with a message. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/text.h"
#include "ir/ir.h"
#include "tests/ir/reader/ir_reader.h"
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

/* Runs the passes on the IR and on the IR read back from its text, side by side. */
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
            tree = le_complex_split(&arena, tree, &inputs);
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

/* Binds arrays of the rank that the program needs, f32 unless it declares a type. */
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

/* The sections of the current case: "in NAME TYPE EXTENT...", "scalar NAME VALUE". */
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

/* A sample of the cases; all with LEAT_TEST_ALL. */
#ifdef __SANITIZE_ADDRESS__
enum { PART = 9 };
#else
enum { PART = 3 };
#endif
static void compare_cases(const char *path) {
    char *text = read_file(path);
    int number = 0, part = getenv("LEAT_TEST_ALL") ? 1 : PART;
    for (char *at = strstr(text, "== program\n"); at; at = strstr(at, "== program\n")) {
        char *start = at + strlen("== program\n"), *end = strstr(start, "\n== ");
        assert_non_null(end);
        char *program = strndup(start, (size_t)(end + 1 - start));
        sections = end + 1;
        if (number++ % part == 0)
            compare_program(program, of_sections);
        free(program);
        at = end + 1;
    }
    free(text);
}

static void reads_every_program_back(void **state) {
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
    assert_true(programs > 1800 / PART && skipped < programs / 3);
}

/* ---- broken text */

static const char *const REFUSED[][2] = {
    {"map x.0 = 1\n", "there is no value 'x.0'"},
    {"hello\n", "'hello' is not a valid line of the IR"},
    {"symbol x: f33\n", "'f33' is not a type"},
    {"symbol x: f32[a, b, c, d, e, f, g, h, i]\n", "more than 8 axes"},
    {"symbol x: f32\nsymbol x: f32\n", "duplicate name 'x'"},
    {"symbol x: f32\nvalue x.0: f32 of x\n", "no stage makes 'x.0'"},
    {"symbol x: f32\nvalue x.0: f32 of y\n", "there is no symbol 'y'"},
    {"index i\n", "is not a new index"},
    {"index i.x\n", "expected an index NAME.NUMBER"},
    {"index i.99999\n", "the index's number is too large"},
    {"index i.0\nindex j.0\n", "duplicate index 0"},
    {"index i.0 in 0 .. j.1\n", "there is no index 'j.1'"},
    {"index i.0 in 0 .. 1.5:f64\n", "a bound is not i64"},
    {"index i.0 in 0 .. 300:i8\n", "'300' is not a valid i8"},
    {"index i.0 in 0 .. -1:u8\n", "'-1' is not a valid u8"},
    {"index i.0 in 0 .. 1:f16\n", "'1' is not a valid f16"},
    {"index i.0 in 0 .. 0x1ffffffff:f32\n", "'0x1ffffffff' is not a valid f32"},
    {"index i.0 in 0 .. (+)\n", "'+' is not a node with 0 operands"},
    {"index i.0 in 0 .. (frob 1 2)\n", "'frob' is not a node with 2 operands"},
    {"index i.0 in 0 .. (< 1:f32 2:f32)\n", "the operand is f32, not i64"},
    {"index i.0 in 0 .. (+ 1 2\n", "a node is missing"},
    {"index i.0 in 0 .. %0\n", "no node is numbered"},
    {"%0 = 1\nindex i.0 in 0 .. %1\n", "above 0"},
    {"%1 = 1\n", "expected number %0"},
    {"%0 = 1\n", "%0 is not followed by a line"},
    {"index i.0 in 0 .. 1 2\n", "unexpected text at the end of the line"},
    {"symbol x: f32[n]\ninput x: f32[n] of x\nindex i.0 in 0 .. x[0; fog]\n", "'fog' is not a valid edge mode"},
    {"symbol x: f32[n]\ninput x: f32[n] of x\nindex i.0 in 0 .. x[0; wrap; clamp]\n", "a second edge mode"},
    {"symbol x: i64[n]\ninput x: i64[n] of x\nindex i.0 in 0 .. x[0]?7\n", "there is no access 7"},
    {"read x[0]\n", "must follow its statement"},
    {"statement jump\n", "'jump' is not a valid kind of statement"},
    {"statement assign\n", "the statement's symbol is missing"},
    {"symbol n: i64\nstatement bind n\n", "the statement's array is missing"},
    {"symbol y: f32[_]\nstatement assign y makes left [0]\n", "bare indices on the left"},
    {"symbol x: f32\nvalue x.0: f32 of x\nmap x.0 =\n", "a node is missing"},
    {"symbol x: f32\nvalue x.0: f32 of x\nmap x.0 = 1:f32 statement\n", "unexpected text at the end of the line"},
    {"symbol x: f32\nvalue x.0: f32 of x\nmap x.0 with x.0 = 1:f32\n", "there is no leader before this stage"},
};

static void expect_refused(const char *text, const char *words) {
    struct le_arena arena;
    struct le_ir *ir;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    leat_status status = le_ir_read(&arena, text, strlen(text), &ir);
    if (status != LEAT_PROGRAM || !strstr(le_error_at(0)->message, words))
        fail_msg("%s\n%s", text, status ? le_errors_text() : "no error");
    assert_null(ir);
    le_arena_finish(&arena);
}

static void rejects_broken_text(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(REFUSED); k++)
        expect_refused(REFUSED[k][0], REFUSED[k][1]);
}

/* IR that can be read can be printed, verified and, if sound, run through the passes. */
static void use_text(const char *text, size_t size_bytes, int *read, int *sound) {
    struct le_arena arena;
    struct le_ir *ir;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    if (le_ir_read(&arena, text, size_bytes, &ir) == LEAT_OK) {
        char *shown = text_of(ir);
        struct le_ir *again = read_back(&arena, shown);
        char *twice = text_of(again);
        assert_string_equal(twice, shown);
        free(shown);
        free(twice);
        *read += 1;
        *sound += le_passes_run(ir) == LEAT_OK;
    }
    le_arena_finish(&arena);
}

static const char SOUND[] = "symbol x: f32[n, m]\n"
                            "symbol n: i64 = (len x 0)\n"
                            "symbol y: f32[i, j]\n"
                            "symbol s: f64\n"
                            "input x: f32[n, m] of x\n"
                            "value y.1: f32[i, j] of y\n"
                            "value s.2: f64 of s wanted\n"
                            "# y[i,j] = exp(x[i,j] - max(k in 0..i: x[i,k]))\n"
                            "index i.0\n"
                            "index j.1\n"
                            "index k.2 in 0 .. (+ i.0 1) depends at 1:9+3\n"
                            "statement assign y makes left [i.0, j.1] free {i.0, j.1} all {i.0, j.1, k.2} at 1:1+20\n"
                            "  read x[i.0, j.1] guarded at 1:20+6\n"
                            "  read x[i.0, k.2] around {k.2} at 1:40+6\n"
                            "%0 = (max {k.2} x[i.0, k.2; fill -1.5e+20:f32]?1)\n"
                            "map y.1[i.0, j.1] {i.0, j.1} access 0 =\n"
                            "    (exp.f32 (-.f32 x[i.0, j.1] %0))\n"
                            "# s = sum(i,j: y[i,j])\n"
                            "index i.3\n"
                            "index j.4\n"
                            "statement assign s makes all {i.3, j.4}\n"
                            "  read y[i.3, j.4] around {i.3, j.4}\n"
                            "map s.2 = (sum {i.3, j.4} (f64 y.1[i.3, j.4]))\n";

/* Mutates the text: replaces words by other words, deletes and flips characters. */
static void mangle(char *text, size_t *length, unsigned *seed) {
    for (int edits = 1 + rand_r(seed) % 3; edits > 0; edits--) {
        size_t a = (size_t)rand_r(seed) % *length, b = (size_t)rand_r(seed) % *length;
        size_t span = 1 + (size_t)rand_r(seed) % 12;
        if (a + span > *length || b + span > *length)
            continue;
        if (rand_r(seed) % 3 == 0) {
            memmove(text + a, text + a + span, *length - a - span);
            *length -= span;
        } else if (rand_r(seed) % 2)
            memmove(text + a, text + b, span);
        else
            text[a] = (char)(rand_r(seed) % 2 ? "(){}[]%.:;,0123456789- \n"[rand_r(seed) % 24] : rand_r(seed) % 256);
    }
}

static void survives_mangled_text(void **state) {
    unsigned seed = 12345;
    int read = 0, sound = 0;
    (void)state;
    use_text(SOUND, sizeof SOUND - 1, &read, &sound);
    if (sound != 1)
        fail_msg("%s", le_errors_text());
    for (int k = 0; k < 10000; k++) {
        char text[sizeof SOUND];
        size_t length = sizeof SOUND - 1;
        memcpy(text, SOUND, sizeof SOUND);
        mangle(text, &length, &seed);
        use_text(text, length, &read, &sound);
    }
    print_message("%d could be read, %d are sound\n", read, sound);
    assert_true(read > sound && sound > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_every_program_back),
                                       cmocka_unit_test(rejects_broken_text), cmocka_unit_test(survives_mangled_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
