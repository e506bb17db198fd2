/* Kernel trees, in their own text: what is printed is read back; each rule of the verifier is broken once; the sweep;
 * and the CUDA C of small trees. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/status.h"
#include "base/text.h"
#include "gen/cuda/cuda_print.h"
#include "tests/ktree/reader/ktree_reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct le_arena arena;

static int set_up(void **state) {
    (void)state;
    le_arena_init(&arena);
    return setjmp(arena.failure) ? -1 : 0;
}

static int tear_down(void **state) {
    (void)state;
    le_arena_finish(&arena);
    return 0;
}

/* A kernel whose parameters every body may use. */
#define HEAD                                                                                                           \
    "# c\nkernel k(x: buffer f32 read, y: buffer f32, h: buffer f16, b: buffer bool, n: long, v: i32 as scalar(), "    \
    "fault: buffer void as fault.record(), act: long) threads 256 reports fault, act {\n"

static const char *whole(const char *body) {
    return le_arena_format(&arena, HEAD "%s}\n", body);
}

static struct le_kernel_tree *read_text(const char *text) {
    struct le_kernel_tree *t;
    if (le_ktree_read(&arena, text, strlen(text), &t) != LEAT_OK)
        fail_msg("%s\n%s", le_errors_text(), text);
    return t;
}

static const char *text_of(const struct le_kernel_tree *t) {
    struct le_text out = {0};
    le_ktree_print(t, &out);
    assert_false(out.failed);
    const char *text = le_arena_copy(&arena, out.at, out.length);
    le_text_finish(&out);
    return text;
}

static struct le_kernel_tree *valid(const char *text) {
    struct le_kernel_tree *t = read_text(text);
    if (le_ktree_verify(t) != LEAT_OK)
        fail_msg("%s\n%s", le_errors_text(), text);
    return t;
}

/* ---- text and back */

static void texts_are_read_back(void **state) {
    static const char *const bodies[] = {
        "",
        "  # what it is\n  # \n",
        /* constants */
        "  let a: int = -3\n  let b_2: long = 3:long\n  let c: ulong = -1:ulong\n  let d: u8 = 255:u8\n"
        "  let e: i8 = -128:i8\n  let f: i64 = -9223372036854775808:i64\n  let g: u64 = 18446744073709551615:u64\n"
        "  let i: bool = true\n  let j: bool = false\n",
        "  let a: f32 = 0.1:f32\n  let b_2: f64 = 0.1:f64\n  let c: f32 = -0:f32\n  let d: f32 = nan:f32\n"
        "  let e: f64 = -inf:f64\n  let f: f32 = 0xffc00001:f32\n  let g: f64 = 1e-300:f64\n  let i: f32 = 3:f32\n"
        "  let j: f64 = 0x7ff0000000000001:f64\n  set h[0] = 0x8000:f16\n",
        /* operators bind as in the language */
        "  let a: int = (1 + 2) * 3 - (4 - 5) % 6\n  let c: bool = 1 < 2 && (true || !(2 >= 3))\n"
        "  let d: i32 = (1:i32 | 2:i32) & ~3:i32 ^ 4:i32 << 5:i32\n  let e: bool = (1 < 2) == true\n"
        "  let f: f32 = neg(x[0]) / (x[1] / x[2]) // x[3] ** x[4]\n"
        "  let g: f32 = min(x[0], sqrt(fma(x[1], x[2], x[3])))\n"
        "  let i: int = 1 < 2 ? 3 : 2 < 1 ? 4 : 5\n"
        "  let j: int = (1 < 2 ? 3 : 4) + 5\n  let l: f32 = muladd(x[0], x[1], x[2])\n",
        "  let a: uint = block.x * threads.x + thread.x\n  let c: long = quotient(long(a), remainder(n, 3:long))\n"
        "  let d: uint = block.y + blocks.x + blocks.y\n",
        "  var usual: bool = true\n  let a: f32 = quick<usual>(x[0] / x[1]) + short(sqrt(x[2]))\n  set b[0] = usual\n",
        "  let a: f32 = f32(h[0])\n  set h[1] = f16(a)\n  set y[n] = f32(i64(a))\n",
        /* variables */
        "  array place: int[2, 4] aligned zeroed\n  array t: shared f32[32, 33]\n  array d: dynamic u8\n"
        "  let p: buffer f32 read = &x[3]\n  let q: shared f32 = &t[1, 0]\n  let row: local int = &place[1]\n"
        "  set place[0, 1] = row[2]\n  set q[0] = p[1]\n  set d[0] = 1:u8\n",
        "  array room: shared void as reuse.room<f32, 1024, f32, f64, int, 64, 128, 8, 1, 2, 1, 1, 0>()\n"
        "  array many: shared void[4] as reuse.room<f32, 1024, f32, f64, int, 64, 128, 8, 1, 2, 1, 1, 0>()\n",
        "  var a: f32\n  var terms: f32 as tree<f32, 0>()\n  var so_far: f32 as scan<f32, 1>() = 0:f32\n"
        "  call tree.add(terms, x[0])\n  let c: f32 = tree.total:f32(terms)\n"
        "  let d: i32 = value<i32>(v)\n  set a = c\n",
        /* statements */
        "  array a: f32[8]\n  copy 4 &a[0] = &x[4]\n  copy 8 a = x\n  call read<4>(a, &x[1])\n  barrier\n",
        "  loop i: int in 0..int(n) {\n  }\n  loop j: long in n..0:long step 2:long while j < 5 {\n    break\n  }\n"
        "  loop k_2: int in 0..4 down unrolled 2 {\n  }\n  loop l: int in 0..4 rolled {\n  }\n"
        "  loop m: uint in 0:uint..4:uint unrolled {\n  }\n  while x[0] < 1:f32 {\n    set y[0] = x[1]\n  }\n"
        "  while b[0] unrolled 4 {\n  }\n",
        "  if b[0] {\n    return\n  } else if b[1] {\n    barrier\n  } else {\n    set y[0] = x[0]\n  }\n",
        "  scope {\n    scope out {\n      if b[0] {\n        leave out\n      }\n    }\n  }\n",
        "  totals total = sum f32, argmax f32 narrow\n"
        "  function term(at: int): total {\n    return total{x[at], x[at], at}\n  }\n"
        "  function put(a: f32[4] read, t: total changes): void {\n    set t = total{a[0], a[1], 3}\n  }\n"
        "  let all: total = thread.total<total, 5, 4, int>(0, int(n), term)\n"
        "  let s: f32 = part<0>:f32(all, n == 0)\n  let i: i64 = part<1>:i64(all, n == 0)\n",
        "  totals total = sum f32\n  totals total_2 = several 4 total\n  array a: total[4]\n"
        "  let all: total_2 = several<total_2>(a)\n"
        "  let c: f32 = part<0>:f32(several.at:total(all, 3), false)\n",
        "  update add y[0], x[0]\n  update max h[1], x[0]\n  update min b[0], true\n",
        "  var failed: bool = false\n  fault 8, n at 0:ulong sets failed\n  fault -2, 3 at ulong(n)\n  note 1\n",
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(bodies); k++) {
        const char *text = whole(bodies[k]);
        assert_string_equal(text_of(valid(text)), text);
    }
}

static void other_texts_are_read_too(void **state) {
    static const char *const pairs[][2] = {
        {"kernel k(){}", "# \nkernel k() {\n}\n"},
        {"\n# a\n\n# c\nkernel k(n:long) cluster 2 {barrier;;\n\n barrier}\n\n",
         "# c\nkernel k(n: long) cluster 2 {\n  barrier\n  barrier\n}\n"},
        {"kernel k() { let a: int = ((3)+4) ; if true { return } else { } }",
         "# \nkernel k() {\n  let a: int = 3 + 4\n  if true {\n    return\n  }\n}\n"},
        {"kernel k() { let a: long = long(3); let b: i32 = 0x10:i32; #x\n}",
         "# \nkernel k() {\n  let a: long = 3:long\n  let b: i32 = 16:i32\n  # x\n}\n"},
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(pairs); k++)
        assert_string_equal(text_of(valid(pairs[k][0])), pairs[k][1]);
}

static void broken_texts_are_refused(void **state) {
    static const struct {
        const char *text, *message;
        int line, column;
    } cases[] = {
        {"", "'kernel' is missing", 1, 1},
        {"kernel", "a name is missing", 1, 7},
        {"kernel k(a: f7) {}", "'f7' is not a type", 1, 13},
        {"kernel k(a: f32, a: f32) {}", "'a' is defined twice", 1, 18},
        {"kernel k() {\n  set a = 3\n}", "there is no variable 'a'", 2, 8},
        {"kernel k() {\n  lets a = 3\n}", "'lets' is not a valid statement", 2, 3},
        {"kernel k() {\n  barrier barrier\n}", "unexpected text after a statement", 2, 11},
        {"kernel k() {\n", "'' is not a valid statement", 2, 1},
        {"kernel k() {} }", "unexpected text after the kernel", 1, 15},
        {"kernel k() { let a: int }", "'=' is missing", 1, 25},
        {"kernel k() { let a: u8 = 3:bo }", "'bo' is not a type", 1, 28},
        {"kernel k() { let a: u8 = 1.5:u8 }", "'1.5' is not a valid u8", 1, 32},
        {"kernel k() { let a: int = 99999999999999999999 }", "'99999999999999999999' is not a valid int", 1, 47},
        {"kernel k() { let a: int = 3 + }", "an expression is missing", 1, 31},
        {"kernel k() { let a: f32 = sinus(3) }", "there is no function 'sinus'", 1, 32},
        {"kernel k() { let a: f32 = sqrt(1:f32, 2:f32) }", "sqrt has 1 operands, not 2", 1, 45},
        {"kernel k() { call read(3, 4) }", "read takes 1 statics, not 0", 1, 23},
        {"kernel k() { call read<2>(3) }", "read takes 2 operands, not 1", 1, 29},
        {"kernel k() { let a: f32 = tree.total(3) }", "the type of tree.total is missing", 1, 37},
        {"kernel k() { fault 8, 3 at 4 }", "the kernel reports no faults", 1, 30},
        {"kernel k() { array a: int[0] }", "0 is below 1", 1, 28},
        {"kernel k() { totals t = most f32 }", "'most' is not a reduction", 1, 29},
    };
    struct le_kernel_tree *t;
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        assert_int_equal(le_ktree_read(&arena, cases[k].text, strlen(cases[k].text), &t), LEAT_PROGRAM);
        const leat_error *error = le_error_at(0);
        assert_string_equal(error->message, le_arena_format(&arena, "line %d: %s", cases[k].line, cases[k].message));
        assert_int_equal(error->line, cases[k].line);
        assert_int_equal(error->column, cases[k].column);
    }
}

static void depth_is_limited(void **state) {
    static const char *const opens[] = {"(", "!", "{ scope "};
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(opens); k++) {
        struct le_text text = {0};
        struct le_kernel_tree *t;
        le_text_add(&text, "kernel k() { %s", k < 2 ? "return " : "scope ");
        for (int q = 0; q < 100000; q++)
            le_text_add(&text, "%s", opens[k]);
        assert_int_equal(le_ktree_read(&arena, text.at, text.length, &t), LEAT_PROGRAM);
        assert_non_null(strstr(le_error_at(0)->message, "more than 200 levels"));
        le_text_finish(&text);
    }
}

/* ---- the verifier */

static void refused(const struct le_kernel_tree *t, const char *message) {
    assert_int_equal(le_ktree_verify(t), LEAT_INTERNAL);
    assert_string_equal(le_error_at(0)->message, le_arena_format(&arena, "kernel k: %s", message));
}

static const char *const broken[][2] = {
    /* uses */
    {"let a: int = a", "let a: int = a: a is used before it is defined"},
    {"scope { let a: int = 1 }; set y[a] = x[0]", "set y[a] = x[0]: a is used where it is not in scope"},
    {"if b[0] { let a: int = 1 } else { set y[a] = x[0] }", "set y[a] = x[0]: a is used where it is not in scope"},
    {"loop i: int in 0..i { }", "loop i: int in 0..i: i is used before it is defined"},
    {"function f(a: int): int { return a }; let c: int = a", "let c: int = a: a is used where it is not in scope"},
    {"function f(): int { return thread.total<f32, 1, 1, int>:int(1, 2, f) }",
     "return thread.total<f32, 1, 1, int>:int(1, 2, f): f is used before it is defined"},
    /* what changes */
    {"let a: int = 1; set a = 2", "set a = 2: a does not change"},
    {"set n = 2", "set n = 2: n does not change"},
    {"set x[0] = y[0]", "set x[0] = y[0]: x is read only"},
    {"update add x[0], y[0]", "update add x[0], y[0]: x is read only"},
    {"copy 4 &x[0] = &y[0]", "copy 4 &x[0] = &y[0]: x is read only"},
    {"set 3 = 4", "set 3 = 4: what is changed is not an element"},
    /* types */
    {"let a: f32 = 1:f64", "let a: f32 = 1:f64: a value of type f64, not f32"},
    {"let a: i64 = n", "let a: i64 = n: a value of type long, not i64"},
    {"let a: f16 = h[0]", "let a: f16 = h[0]: a variable of type f16"},
    {"let a: void = x[0]", "let a: void = x[0]: void is not the type of a value"},
    {"let a: c64 = x[0]", "let a: c64 = x[0]: c64 is not the type of a value"},
    {"set y[0] = h[0]", "set y[0] = h[0]: a value of type f16, not f32"},
    {"set y[0] = x[0] + 1:f64", "set y[0] = x[0] + 1:f64: + does not take f32 and f64"},
    {"set y[n + 1:i64] = x[0]", "set y[n + 1:i64] = x[0]: + does not take long and i64"},
    {"set h[0] = h[1] + h[2]", "set h[0] = h[1] + h[2]: + does not take f16 and f16"},
    {"set y[n / 3] = x[0]", "set y[n / 3] = x[0]: / does not take long and int"},
    {"set y[0] = x[0] & x[1]", "set y[0] = x[0] & x[1]: & does not take f32 and f32"},
    {"set y[0] = quotient(x[0], x[1])", "set y[0] = quotient(x[0], x[1]): quotient does not take f32 and f32"},
    {"let a: i32 = sqrt(3:i32)", "let a: i32 = sqrt(3:i32): sqrt does not take i32"},
    {"let a: bool = neg(true)", "let a: bool = neg(true): neg does not take bool"},
    {"set b[0] = 1 && true", "set b[0] = 1 && true: && does not take int and bool"},
    {"set y[0] = n ? x[0] : x[1]", "set y[0] = n ? x[0] : x[1]: a condition of type long"},
    {"set y[0] = b[0] ? x[0] : 1", "set y[0] = b[0] ? x[0] : 1: a choice of f32 and int gives f32"},
    {"let a: f32 = quick<n>(x[0] / x[1])", "let a: f32 = quick<n>(x[0] / x[1]): the quick way of / has no bool"},
    {"let a: f64 = f64(x)", "let a: f64 = f64(x): x is not a value"},
    {"set y[0] = x", "set y[0] = x: x is not a value"},
    {"let a: i32 = v", "let a: i32 = v: v is not a value"},
    {"let a: f32 = &x[0]", "let a: f32 = &x[0]: an operand is not a value"},
    {"let a: buffer f32 = x[0]", "let a: buffer f32 = x[0]: x is not an address"},
    {"let a: buffer f32 = &h[0]", "let a: buffer f32 = &h[0]: an address of f16, not f32"},
    /* arrays */
    {"let a: f32[3] = &x[0]", "let a: f32[3] = &x[0]: a is a pointer with extents"},
    {"array a: shared f32", "array a: shared f32: a has an extent of 0"},
    {"set y[x[0]] = x[0]", "set y[x[0]] = x[0]: a subscript of y is f32"},
    {"array a: int[2, 3]; set a[1] = 2", "set a[1] = 2: a has 2 axes, not 1"},
    {"array a: int[2]; let p: local int = &a[1, 1]", "let p: local int = &a[1, 1]: a has 1 axes, not 2"},
    {"set n[0] = 1", "set n[0] = 1: n is not an array"},
    {"let a: buffer f32 = &(x[0] + x[1])", "let a: buffer f32 = &(x[0] + x[1]): the address of what is not an element"},
    {"array a: shared int[2] zeroed", "array a: shared int[2] zeroed: a is shared and zeroed"},
    {"array a: buffer int", "array a: buffer int: an array without memory"},
    {"copy 3 &y[0] = &x[0]", "copy 3 &y[0] = &x[0]: a copy of 3 elements of type f32 to elements of type f32"},
    {"copy 4 &y[0] = &h[0]", "copy 4 &y[0] = &h[0]: a copy of 4 elements of type f16 to elements of type f32"},
    /* control */
    {"break", "break: it is not in a loop"},
    {"loop i: int in 0..3 { function f(): void { break } }", "break: it is not in a loop"},
    {"scope a { }; leave a", "leave a: no scope a is open"},
    {"scope a { function f(): void { leave a } }", "leave a: no scope a is open"},
    {"if n { }", "if n: a condition of type long"},
    {"while x[0] { }", "while x[0]: a condition of type f32"},
    {"loop i: i64 in 0:i64..3:i64 { }",
     "loop i: i64 in 0:i64..3:i64 step 1:i64: a loop's variable is a position that the loop alone changes"},
    {"loop i: int in 0..x[0] { }", "loop i: int in 0..x[0]: a value of type f32, not int"},
    {"loop i: int in 0..3 { set i = 2 }", "set i = 2: i does not change"},
    {"loop i: int in 0..3 step 2 down { }",
     "loop i: int in 0..3 step 2 down: a loop that goes down has no guard, and steps of 1"},
    {"return n", "return n: a value is returned where none is asked for"},
    {"function f(): int { return }", "return: an expression is missing"},
    {"function f(): int { return x[0] }", "return x[0]: a value of type f32, not int"},
    {"function f(a: shared int[3]): int { return 1 }",
     "function f(a: shared int[3]): int: the parameter a has memory of its own"},
    /* calls and totals */
    {"call canonical<f32>(x[0])", "call canonical<f32>(x[0]): a statement that is not a call without a result"},
    {"var a: f32 as canonical<f32>(x[0])",
     "var a: f32 as canonical<f32>(x[0]): a statement that is not a call without a result"},
    {"var a: f32 as fault.record(); set a = x[0]", "set a = x[0]: a is not a value"},
    {"let a: f32 = canonical<c64>:f32(x[0])", "let a: f32 = canonical<c64>:f32(x[0]): c64 is not the type of a value"},
    {"var a: void as kept<3, 2, 8>()", "var a: void as kept<3, 2, 8>(): static 0 of kept is not a type"},
    {"totals t = sum f32; let a: t = t{x[0], 3}", "let a: t = t{x[0], 3}: a total t has 1 terms, not 2"},
    {"totals t = argmax f32; let a: t = t{x[0], x[1]}", "let a: t = t{x[0], x[1]}: a value of type f32, not long"},
    {"totals t = sum f32; let a: t = t{1:f64}", "let a: t = t{1:f64}: a value of type f64, not f32"},
    {"totals t = sum f32; let a: t = t{x[0]}; let c: f32 = part<1>:f32(a, false)",
     "let c: f32 = part<1>:f32(a, false): t has no part 1"},
    {"totals t = sum f32; let a: t = t{x[0]}; let c: f64 = part<0>:f64(a, false)",
     "let c: f64 = part<0>:f64(a, false): part 0 of t is f32, not f64"},
    {"totals t = mean f32", "totals t = mean f32: t has a part that is no total"},
    {"update set y[0], x[0]", "update set y[0], x[0]: no update of this kind is atomic"},
    {"update add y[0], 1:f64", "update add y[0], 1:f64: a value of type f64, not f32"},
    {"fault 8, x[0] at 3", "fault 8, x[0] at 3: a position of type f32"},
    {"fault 8, n at 3 sets n", "fault 8, n at 3 sets n: n is not a bool that changes"},
    {"# a\\", "# a\\: a comment of more than one line"},
};

static void each_rule_is_checked(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(broken); k++)

        refused(read_text(whole(le_arena_format(&arena, "%s\n", broken[k][0]))), broken[k][1]);
    refused(read_text("kernel k(a: f32[3]) {}"), "the parameter a has memory of its own");
    refused(read_text("kernel k(a: f32 changes) {}"), "the parameter a changes");
    refused(read_text("kernel k(a: void) {}"), "void is not the type of a value");
}

/* What no text says. */
static void trees_without_a_text_are_refused(void **state) {
    struct le_expression *x[] = {NULL, NULL};
    (void)state;
    struct le_kernel_tree *t = read_text("kernel k(n: long) {}");
    x[0] = x[1] = le_ktree_int(t, 1);
    le_let(t, t->root, "a", le_ktree_op(t, LE_OP_NEG, LE_KTREE_INT, x, 2));
    refused(t, "let a: int = neg(1, 1): neg has 2 operands");
    t->root->list.at[0]->x = le_ktree_op(t, LE_OP_LT, LE_KTREE_INT, x, 2);
    refused(t, "let a: int = 1 < 1: < gives bool, not int");
    struct le_expression *call = le_ktree_call(t, LE_CALL_OVER, LE_NONE, NULL, x);
    t->root->list.at[0]->x = call;
    call->count = 1;
    refused(t, "let a: int = over(1): over takes 0 statics and 2 operands, not 0 and 1");
    call->count = 2;
    call->type = LE_KTREE_LONG;
    refused(t, "let a: int = over(1, 1): over gives uint, not long");
    t->root->list.at[0]->x = le_ktree_use(t, t->parameters.at[0]);
    t->root->list.at[0]->x->type = LE_KTREE_INT;
    refused(t, "let a: int = n: n is long, not int");
    t->root->list.at[0]->x = le_ktree_int(t, 1);
    le_ktree_add(t, t->root, *t->root->list.at[0]);
    refused(t, "let a: int = 1: a is defined twice");
    t->root->list.at[1]->variable = le_ktree_variable(t, "b", LE_KTREE_INT);
    t->root->list.at[1]->variable->name = "n";
    refused(t, "let n: int = 1: two variables are named n");
    *t->root->list.at[1] = (struct le_statement){.kind = LE_STATEMENT_NOTE, .code = 1};
    refused(t, "note 1: the kernel reports nothing");
    *t->root->list.at[1] = (struct le_statement){.kind = LE_STATEMENT_BRANCH, .x = le_ktree_constant(t, LE_BOOL, 1)};
    refused(t, "if true: a statement without its block");
}

/* ---- the sweep */

static void what_is_not_used_is_swept(void **state) {
    static const char *const pairs[][2] = {
        /* from the last to the first: what one that goes had used goes, too */
        {"let a: int = 1; let c: int = a + 1; let d: int = a; set y[d] = x[0]",
         "  let a: int = 1\n  let d: int = a\n  set y[d] = x[0]\n"},
        {"loop i: int in 0..int(n) { let a: int = i; barrier }", "  loop i: int in 0..int(n) {\n    barrier\n  }\n"},
        {"if b[0] { let a: int = 1 } else { let c: int = 2 }", "  if b[0] {\n  }\n"},
        {"var a: int = 1; let c: int = a", "  var a: int = 1\n"},
        {"function f(a: int): int { let c: int = a; return 1 }", "  function f(a: int): int {\n    return 1\n  }\n"},
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(pairs); k++) {
        struct le_kernel_tree *t = read_text(whole(le_arena_format(&arena, "%s\n", pairs[k][0])));
        le_ktree_sweep(t);
        const char *text = strstr(text_of(t), "{\n") + 2;
        assert_string_equal(text, le_arena_format(&arena, "%s}\n", pairs[k][1]));
    }
    struct le_kernel_tree *t =
        read_text("kernel k(a: long, x: buffer f32, fault: buffer void as fault.record(), act: long, c: long) "
                  "reports fault, act { fault 1, a at 3 }");
    le_ktree_sweep(t);
    assert_string_equal(text_of(t), "# \nkernel k(a: long, fault: buffer void as fault.record(), act: long) "
                                    "reports fault, act {\n  fault 1, a at 3\n}\n");
}

/* ---- CUDA C */

static void trees_print_as_cuda(void **state) {
    static const char *const pairs[][2] = {
        {"let a: uint = block.x * threads.x + thread.x; set y[a] = x[a] * (x[0] + 1:f32)",
         "    const unsigned a = blockIdx.x * blockDim.x + threadIdx.x;\n    y[a] = x[a] * (x[0] + 1.0f);\n"},
        {"loop i: int in 0..int(n) step 2 unrolled { set b[i] = i < 3 && !b[0] }",
         "    #pragma unroll\n    for (int i = 0; i < (int)n; i += 2) {\n"
         "        b[i] = i < 3 && !(b[0] != 0);\n    }\n"},
        {"loop i: long in 0:long..n down { break }",
         "    for (long long i = n - 1; i >= 0ll; i--) {\n        break;\n    }\n"},
        {"scope out { if b[0] { leave out } else if b[1] { return } }",
         "    {\n        if ((b[0] != 0)) {\n            goto out;\n        }\n        else if ((b[1] != 0)) {\n"
         "            return;\n        }\n    }\n    out:;\n"},
        {"array t: shared f32[2, 3] aligned; copy 4 &t[1] = &x[4]; barrier",
         "    __shared__ __align__(16) float t[2][3];\n    ((uint4 *)t[1])[0] = ((const uint4 *)&x[4])[0];\n"
         "    __syncthreads();\n"},
        {"set h[0] = f16(x[0]); let a: f32 = f32(h[0]); let c: i32 = i32(a)",
         "    h[0] = le_to_f16(x[0]);\n    const float a = le_from_f16(h[0]);\n"
         "    const int c = le_saturate<int, float>(a, (-2147483647 - 1), 2147483647, 2147483648.0f);\n"},
        {"let a: int = edge.clamp<int>(3, int(n)); let c: f32 = canonical<f32>(x[a] ** nan:f32)",
         "    const int a = le_edge_clamp<int>(3, (int)n);\n"
         "    const float c = le_canonical<float>((powf(x[a], le_nan<float>())));\n"},
        {"totals t = sum f32, argmax f32 narrow; function f(a: int): t { return t{x[a], x[a], a} }",
         "    typedef le_both<le_sum<float>, le_first<float, int, true>> t;\n    const auto f = [&](int a) -> t {\n"
         "        return {le_sum<float>::of(x[a]), le_first<float, int, true>::of(x[a], a)};\n    };\n"},
        {"update max y[n], x[0]; update add b[0], true; fault 8, 3 at 0:ulong",
         "    le_atomic_max<float>(&y[n], x[0]);\n    if (true)\n        b[0] = 1;\n"
         "    le_fault(fault, act, 0ull, 8, 3);\n"},
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(pairs); k++) {
        struct words code = {0};
        le_cuda_print(valid(whole(le_arena_format(&arena, "%s\n", pairs[k][0]))), &code);
        assert_string_equal(strstr(code.at, "{\n") + 2, le_arena_format(&arena, "%s}\n", pairs[k][1]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_are_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_texts_are_read_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(broken_texts_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_is_limited, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_rule_is_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trees_without_a_text_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_used_is_swept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trees_print_as_cuda, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
