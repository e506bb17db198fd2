/* Tests of passes, verifier and range rules, as cases in the IR's text: tests/ir/NAME.txt.
 *
 * A case is "== ir", the IR, and the expected results, up to "== end":
 *   == passes NAME...    the passes to run, in order
 *   == stages            the stages, the nodes before them, and indices with ranges, as printed
 *   == unsound WORDS     part of the verifier's message
 *   == extents NAME N... an array's shape; == number NAME N: a scalar's value
 *   == ranges            the result of the range rules: "i.0 0..4", "k.1 0..4 depends", "y [4, 5]"
 *   == refused WORDS     part of the range rules' message */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/text.h"
#include "ir/ranges.h"
#include "tests/ir/reader/ir_reader.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cases;

/* ---- a case's parts */

struct case_part {
    const char *name, *rest, *body; /* rest: of the heading's line */
};
struct test_case {
    const char *file;
    int line;
    struct case_part parts[40];
    int count;
};

static const struct case_part *find_part(const struct test_case *test, const char *name) {
    for (int k = 0; k < test->count; k++)
        if (strcmp(test->parts[k].name, name) == 0)
            return &test->parts[k];
    return NULL;
}

static void wrong(const struct test_case *test, const char *what, const char *expected, const char *found) {
    fail_msg("%s:%d: %s\nexpected:\n%s\nfound:\n%s", test->file, test->line, what, expected, found);
}

static void same_text(const struct test_case *test, const char *expected, struct le_text *found) {
    le_text_add(found, "%s", "");
    if (strcmp(expected, found->at) != 0)
        wrong(test, "other text", expected, found->at);
    le_text_finish(found);
}

static void says(const struct test_case *test, const char *words, leat_status status) {
    const char *message = status == LEAT_OK ? "no error" : le_error_at(0)->message;
    if (status == LEAT_OK || !strstr(message, words))
        wrong(test, "another message", words, message);
}

/* ---- passes */

static void run_passes(const struct test_case *test, struct le_ir *ir, const char *names) {
    char name[32];
    for (int used; sscanf(names, "%31s%n", name, &used) == 1; names += used) {
        const struct le_pass *pass = le_passes;
        while (pass->name && strcmp(pass->name, name) != 0)
            pass++;
        if (!pass->name)
            wrong(test, "no such pass", name, "");
        pass->run(ir);
        if (le_ir_verify(ir) != LEAT_OK)
            wrong(test, name, "sound IR", le_error_at(0)->message);
    }
}

static bool is_stage_line(const char *line) {
    static const char *const others[] = {"symbol ", "input ", "value ", "local ",     "note ",
                                         "#",       "read ",  "write ", "statement ", "\n"};
    line += strspn(line, " ");
    for (size_t k = 0; k < ARRAY_LEN(others); k++)
        if (strncmp(line, others[k], strlen(others[k])) == 0)
            return false;
    const char *range = strstr(line, " in "), *end = strchr(line, '\n');
    return strncmp(line, "index ", 6) != 0 || (range && range < end);
}

static void check_stages(const struct test_case *test, const struct le_ir *ir, const char *expected) {
    struct le_text all = {0}, kept = {0};
    le_ir_print(ir, &all);
    for (const char *line = all.at; line && *line; line = strchr(line, '\n') + 1)
        if (is_stage_line(line))
            le_text_add_bytes(&kept, line, (size_t)(strchr(line, '\n') + 1 - line));
    le_text_finish(&all);
    same_text(test, expected, &kept);
}

/* ---- ranges */

struct numbers {
    const struct test_case *test;
    const struct le_ir *ir;
};

/* Only scalar inputs and host indices have values. */
static leat_status evaluate(void *user, struct le_node *node, int64_t *value) {
    const struct numbers *n = user;
    int read = node->kind == LE_NODE_LOAD    ? node->value
               : node->kind == LE_NODE_INDEX ? n->ir->indices.at[node->index].host_value
                                             : -1;
    for (int k = 0; k < n->test->count && read >= 0; k++) {
        char name[32];
        long long number;
        if (strcmp(n->test->parts[k].name, "number") == 0 &&
            sscanf(n->test->parts[k].rest, "%31s %lld", name, &number) == 2 &&
            strcmp(name, n->ir->values.at[read].name) == 0) {
            *value = number;
            return LEAT_OK;
        }
    }
    return LEAT_MISSING;
}

static int symbol_of(const struct test_case *test, const struct le_ir *ir, const char *name) {
    for (int k = 0; k < ir->tree->symbol_count; k++)
        if (strcmp(ir->tree->symbols[k]->name, name) == 0)
            return k;
    wrong(test, "no such symbol", name, "");
    return -1;
}

static void set_extents(const struct test_case *test, struct le_space *space) {
    for (int k = 0; k < test->count; k++) {
        char name[32];
        int used = 0, axis = 0;
        if (strcmp(test->parts[k].name, "extents") != 0 || sscanf(test->parts[k].rest, "%31s%n", name, &used) != 1)
            continue;
        int symbol = symbol_of(test, space->ir, name);
        char *next = (char *)(uintptr_t)test->parts[k].rest + used;
        for (char *end; axis < LEAT_RANK_MAX; next = end) {
            space->shape[symbol][axis] = strtoll(next, &end, 10);
            if (end == next)
                break;
            axis++;
        }
        space->shaped[symbol] = true;
    }
}

static void print_found(const struct le_space *space, struct le_text *out) {
    const struct le_ir *ir = space->ir;
    for (int k = 0; k < ir->indices.count; k++) {
        const struct le_range *r = &space->ranges[k];
        if (!ir->indices.at[k].name || !r->solved)
            continue;
        le_text_add(out, "%s.%d", ir->indices.at[k].name, k);
        if (!r->dynamic || r->bounded)
            le_text_add(out, " %lld..%lld", (long long)r->low, (long long)r->high);
        if (r->by != 1)
            le_text_add(out, " by %lld", (long long)r->by);
        le_text_add(out, "%s\n", r->dynamic ? " depends" : "");
    }
    for (int k = 0; k < ir->statements.count; k++) {
        int symbol = ir->statements.at[k].symbol;
        if (symbol < 0 || !space->shaped[symbol] || (!ir->statements.at[k].is_new && !ir->statements.at[k].size_count))
            continue;
        le_text_add(out, "%s [", ir->tree->symbols[symbol]->name);
        for (int d = 0; d < ir->tree->symbols[symbol]->rank; d++)
            le_text_add(out, "%s%lld", d ? ", " : "", (long long)space->shape[symbol][d]);
        le_text_add(out, "]\n");
    }
}

static void check_ranges(const struct test_case *test, struct le_arena *arena, struct le_ir *ir) {
    const struct case_part *ranges = find_part(test, "ranges"), *refused = find_part(test, "refused");
    struct numbers numbers = {.test = test, .ir = ir};
    struct le_space space = {.ir = ir, .arena = arena, .evaluate = evaluate, .user = &numbers};
    struct le_text found = {0};
    leat_status status = LEAT_OK;
    space.shape = le_arena_array(arena, (size_t)ir->tree->symbol_count, sizeof *space.shape);
    space.shaped = LE_NEW_ARRAY(arena, ir->tree->symbol_count, bool);
    space.ranges = LE_NEW_ARRAY(arena, ir->indices.count, struct le_range);
    set_extents(test, &space);
    for (int k = 0; k < ir->statements.count && status == LEAT_OK; k++)
        status = le_ranges_find(&space, &ir->statements.at[k]);
    if (refused) {
        says(test, refused->rest, status);
        return;
    }
    if (status != LEAT_OK)
        wrong(test, "refused", ranges->body, le_error_at(0)->message);
    print_found(&space, &found);
    same_text(test, ranges->body, &found);
}

/* ---- cases */

static void check_case(const struct test_case *test, struct le_arena *arena) {
    const struct case_part *text = find_part(test, "ir"), *passes = find_part(test, "passes");
    const struct case_part *stages = find_part(test, "stages"), *unsound = find_part(test, "unsound");
    struct le_ir *ir;
    if (!text || le_ir_read(arena, text->body, strlen(text->body), &ir) != LEAT_OK)
        wrong(test, "no IR", "", text ? le_errors_text() : "");
    leat_status sound = le_ir_verify(ir);
    if (unsound)
        says(test, unsound->rest, sound);
    else if (sound != LEAT_OK)
        wrong(test, "unsound", "sound IR", le_error_at(0)->message);
    if (passes)
        run_passes(test, ir, passes->rest);
    if (stages)
        check_stages(test, ir, stages->body);
    if (find_part(test, "ranges") || find_part(test, "refused"))
        check_ranges(test, arena, ir);
}

static void run_case(const struct test_case *test) {
    struct le_arena arena;
    le_arena_init(&arena);
    if (setjmp(arena.failure))
        fail_msg("out of memory");
    check_case(test, &arena);
    le_arena_finish(&arena);
    cases++;
}

static void run_file(const char *path) {
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    struct test_case test = {.file = path};
    int line = 0;
    for (char *at = text, *next; *at; at = next) {
        char *end = strchr(at, '\n');
        assert_non_null(end);
        next = end + 1;
        line++;
        if (strncmp(at, "== ", 3) != 0)
            continue;
        *at = 0;
        *end = 0;
        struct case_part part = {.name = at + 3, .rest = end, .body = next};
        char *space = strchr(at + 3, ' ');
        if (space) {
            *space = 0;
            part.rest = space + 1;
        }
        if (strcmp(part.name, "end") == 0) {
            run_case(&test);
            test.count = 0;
            continue;
        }
        if (strcmp(part.name, "ir") == 0)
            test.line = line;
        assert_true(test.count < (int)ARRAY_LEN(test.parts));
        test.parts[test.count++] = part;
    }
    if (test.count)
        wrong(&test, "a case without an end", "", "");
}

static void cases_pass(void **state) {
    glob_t files;
    (void)state;
    assert_int_equal(glob("tests/ir/*.txt", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++)
        run_file(files.gl_pathv[k]);
    globfree(&files);
    print_message("%d cases\n", cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
