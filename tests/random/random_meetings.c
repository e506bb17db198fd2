/* Random stores whose elements meet, in an `each` or in one statement, against plain loops: what comes later in index
 * order wins, and what is added is added once, on one thread, on seven, and, of one program in thirty, on sim.
 *
 * usage: random_meetings COUNT [FIRST_SEED]   (a failure prints its seed: `random_meetings 1 SEED` repeats it)
 *        random_meetings show SEED */
#include "generator.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINDERS_MAX = 4, TURN = BINDERS_MAX, NODES_MAX = 40, ELEMENTS = 300, DEPTH_MAX = 2 };
static const char *const names[] = {"i", "h", "j", "k", "t"};

/* by[k] of index k, plus a number; modulo: 0: none. */
struct affine {
    int by[TURN + 1], plus, modulo;
};
struct bound {
    int index, plus; /* index: -1: a number alone */
};
struct binder {
    struct bound low, high;
    int by;
};
enum kind { STORE, IF, LOOP };
enum update { SET, ADD, SUBTRACT, GREATEST, LEAST };
struct node {
    enum kind kind;
    struct affine place, value; /* IF: value is the condition, of 0 or not */
    enum update update;
    int turns;                 /* LOOP */
    int body, otherwise, next; /* numbers of nodes; -1: none */
};
struct meeting {
    struct binder binders[BINDERS_MAX];
    struct node nodes[NODES_MAX];
    int binder_count, node_count, first;
    bool is_each;
    uint64_t seed, drawn;
};

/* ---- making one */

static int draw(struct meeting *m, int below) {
    return (int)(random_bits(m->seed, m->drawn++) % (uint64_t)below);
}

static struct bound draw_bound(struct meeting *m, int before, int number) {
    if (before > 0 && draw(m, 3) == 0)
        return (struct bound){draw(m, before), draw(m, 3)};
    return (struct bound){-1, number};
}

static struct affine draw_affine(struct meeting *m, bool in_loop, int least) {
    static const int factors[] = {0, 1, 1, 2, 3};
    struct affine a = {.plus = draw(m, 8)};
    for (int k = 0; k < m->binder_count; k++) {
        a.by[k] = factors[draw(m, 5)];
        a.by[k] = a.by[k] > least ? a.by[k] : least;
    }
    a.by[TURN] = in_loop ? draw(m, 3) : 0;
    return a;
}

static struct affine draw_value(struct meeting *m, bool in_loop) {
    struct affine a = {.plus = draw(m, 5)};
    for (int k = 0, by = 1; k < m->binder_count; k++, by *= 10)
        a.by[k] = by;
    a.by[TURN] = in_loop ? 10000 : 0;
    return a;
}

static int draw_body(struct meeting *m, int depth, bool in_loop);

static int draw_node(struct meeting *m, int depth, bool in_loop) {
    int at = m->node_count++, what = draw(m, 10);
    struct node node = {.body = -1, .otherwise = -1, .next = -1};
    assert(at < NODES_MAX);
    if (m->is_each && depth < DEPTH_MAX && what < 4) {
        node.kind = IF;
        node.value = draw_affine(m, in_loop, 1);
        node.value.modulo = 2 + draw(m, 2);
        node.body = draw_body(m, depth + 1, in_loop);
        node.otherwise = draw(m, 4) ? -1 : draw_body(m, depth + 1, in_loop);
    } else if (m->is_each && depth < DEPTH_MAX && what < 6 && !in_loop) {
        node.kind = LOOP;
        node.turns = draw(m, 4);
        node.body = draw_body(m, depth + 1, true);
    } else {
        node.kind = STORE;
        node.update = draw(m, 3) ? SET : (enum update)draw(m, LEAST + 1);
        bool on_left = !m->is_each && (node.update == SET || node.update == SUBTRACT); /* all indices must be */
        node.place = draw_affine(m, in_loop, on_left);
        node.place.modulo = draw(m, 4) ? 0 : 7;
        node.value = draw_value(m, in_loop);
    }
    m->nodes[at] = node;
    return at;
}

static int draw_body(struct meeting *m, int depth, bool in_loop) {
    int first = draw_node(m, depth, in_loop);
    if (m->is_each && draw(m, 5) == 0) {
        int second = draw_node(m, depth, in_loop);
        m->nodes[first].next = second;
    }
    return first;
}

static void draw_meeting(struct meeting *m, uint64_t seed) {
    static const int numbers[] = {1, 2, 3, 4, 5, 9, 17, 33};
    *m = (struct meeting){.seed = seed};
    m->is_each = draw(m, 5) > 0;
    m->binder_count = 1 + draw(m, BINDERS_MAX);
    for (int k = 0; k < m->binder_count; k++) {
        struct bound low = draw_bound(m, k, 0), high = draw_bound(m, k, numbers[draw(m, 8)]);
        m->binders[k] = (struct binder){low, high, 1 + (draw(m, 4) == 0)};
    }
    m->first = draw_body(m, 0, false);
}

/* ---- as text */

struct text {
    char bytes[TEXT_MAX_BYTES];
    size_t length;
};

static void add(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(text->bytes + text->length, sizeof text->bytes - text->length, format, arguments);
    va_end(arguments);
    text->length += (size_t)count;
    assert(text->length < sizeof text->bytes);
}

static void add_affine(struct text *text, const struct affine *a) {
    add(text, a->modulo ? "(%d" : "%d", a->plus);
    for (int k = 0; k <= TURN; k++)
        if (a->by[k])
            add(text, " + %d*%s", a->by[k], names[k]);
    if (a->modulo)
        add(text, ") %% %d", a->modulo);
}

static void add_bound(struct text *text, struct bound bound) {
    if (bound.index < 0)
        add(text, "%d", bound.plus);
    else
        add(text, "%s+%d", names[bound.index], bound.plus);
}

static void add_body(struct text *text, const struct meeting *m, int at) {
    static const char *const updates[] = {"=", "+=", "-=", "max=", "min="};
    for (; at >= 0; at = m->nodes[at].next) {
        const struct node *node = &m->nodes[at];
        if (node->kind == STORE) {
            add(text, "z[");
            add_affine(text, &node->place);
            add(text, "] %s ", updates[node->update]);
            add_affine(text, &node->value);
        } else if (node->kind == IF) {
            add(text, "if ");
            add_affine(text, &node->value);
        } else {
            add(text, "for t in 0..%d", node->turns);
        }
        if (node->body >= 0) {
            add(text, " { ");
            add_body(text, m, node->body);
            add(text, " }");
        }
        if (node->otherwise >= 0) {
            add(text, " else { ");
            add_body(text, m, node->otherwise);
            add(text, " }");
        }
        add(text, node->next >= 0 ? "; " : "");
    }
}

static void add_binders(struct text *text, const struct meeting *m) {
    for (int k = 0; k < m->binder_count; k++) {
        add(text, k ? ", %s in " : " %s in ", names[k]);
        add_bound(text, m->binders[k].low);
        add(text, "..");
        add_bound(text, m->binders[k].high);
        add(text, m->binders[k].by > 1 ? " by %d" : "", m->binders[k].by);
    }
}

static void write_text(struct text *text, const struct meeting *m) {
    text->length = 0;
    add(text, "out z: i64[%d]\n", ELEMENTS);
    if (m->is_each) {
        add(text, "each");
        add_binders(text, m);
        add(text, " { ");
        add_body(text, m, m->first);
        add(text, " }\n");
    } else {
        add_body(text, m, m->first);
        add(text, " where");
        add_binders(text, m);
        add(text, "\n");
    }
}

/* ---- as loops */

struct loops {
    const struct meeting *m;
    int64_t at[TURN + 1], z[ELEMENTS];
    int order[BINDERS_MAX];
    bool falls_outside;
};

static int64_t affine_at(const struct loops *l, const struct affine *a) {
    int64_t sum = a->plus;
    for (int k = 0; k <= TURN; k++)
        sum += a->by[k] * l->at[k];
    return a->modulo ? sum % a->modulo : sum;
}

static int64_t bound_at(const struct loops *l, struct bound bound) {
    return bound.plus + (bound.index < 0 ? 0 : l->at[bound.index]);
}

static void store(struct loops *l, const struct node *node) {
    int64_t place = affine_at(l, &node->place), x = affine_at(l, &node->value);
    if (place >= ELEMENTS) {
        l->falls_outside = true;
        return;
    }
    int64_t old = l->z[place];
    l->z[place] = node->update == SET        ? x
                  : node->update == ADD      ? old + x
                  : node->update == SUBTRACT ? old - x
                  : node->update == GREATEST ? (x > old ? x : old)
                                             : (x < old ? x : old);
}

static void run_body(struct loops *l, int at) {
    for (; at >= 0; at = l->m->nodes[at].next) {
        const struct node *node = &l->m->nodes[at];
        if (node->kind == STORE)
            store(l, node);
        else if (node->kind == IF)
            run_body(l, affine_at(l, &node->value) ? node->body : node->otherwise);
        for (int64_t t = 0; node->kind == LOOP && t < node->turns; t++) {
            l->at[TURN] = t;
            run_body(l, node->body);
        }
    }
}

static void run_loops(struct loops *l, int depth) {
    if (depth == l->m->binder_count) {
        run_body(l, l->m->first);
        return;
    }
    int index = l->order[depth];
    const struct binder *binder = &l->m->binders[index];
    int64_t low = bound_at(l, binder->low), high = bound_at(l, binder->high);
    for (int64_t value = low; value < high; value += binder->by) {
        l->at[index] = value;
        run_loops(l, depth + 1);
    }
}

/* An each's indices go in the order of its binders; of a statement's those whose bounds use others come last. */
static void find_order(struct loops *l) {
    int count = 0;
    for (int last = 0; last < 2; last++)
        for (int k = 0; k < l->m->binder_count; k++) {
            const struct binder *binder = &l->m->binders[k];
            bool waits = !l->m->is_each && (binder->low.index >= 0 || binder->high.index >= 0);
            if (waits == (last == 1))
                l->order[count++] = k;
        }
}

/* ---- comparing */

static void need(leat_status status, const char *what) {
    if (!status)
        return;
    fprintf(stderr, "%s: %s\n", what, leat_status_name(status));
    exit(1);
}

static bool gives(leat_context *ctx, const struct text *text, const int64_t *expected) {
    leat_program *program = NULL;
    leat_call *call = NULL;
    leat_array *result = NULL;
    int64_t z[ELEMENTS];
    leat_status status = leat_program_new(ctx, text->bytes, 0, NULL, &program);
    if (!status)
        status = leat_call_new(program, &call);
    if (!status)
        status = leat_call_run(call, NULL, NULL);
    if (status)
        printf("%s: %s\n", leat_status_name(status), leat_error_text(ctx));
    bool same = !status;
    if (!status) {
        need(leat_call_result(call, "z", &result), "the result");
        need(leat_array_read(result, z, sizeof z, NULL, NULL), "the result");
    }
    for (int k = 0; !status && k < ELEMENTS; k++)
        if (z[k] != expected[k]) {
            same = false;
            printf("z[%d] is %lld, not %lld\n", k, (long long)z[k], (long long)expected[k]);
        }
    leat_array_free(result);
    leat_call_free(call);
    leat_program_free(program);
    return same;
}

enum { CONTEXTS = 3, SIM = 2, ONE_IN = 30 };

int main(int argument_count, char **arguments) {
    static struct text text;
    struct meeting m;
    if (argument_count == 3 && !strcmp(arguments[1], "show")) {
        draw_meeting(&m, strtoull(arguments[2], NULL, 10));
        write_text(&text, &m);
        fputs(text.bytes, stdout);
        return 0;
    }
    if (argument_count < 2 || argument_count > 3) {
        fprintf(stderr, "usage: random_meetings COUNT [FIRST_SEED] | random_meetings show SEED\n");
        return 2;
    }
    static const char *const hows[CONTEXTS] = {"on one thread", "on seven threads", "on sim"};
    uint64_t count = strtoull(arguments[1], NULL, 10);
    uint64_t first = argument_count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    leat_context *contexts[CONTEXTS];
    int failures = 0, ran = 0;
    for (int k = 0; k < CONTEXTS; k++)
        need(leat_open(&(leat_options){.threads = k == 1 ? 7 : 1, .device = k == SIM ? "sim" : "cpu"}, &contexts[k]),
             "a context");
    for (uint64_t seed = first; seed < first + count; seed++) {
        draw_meeting(&m, seed);
        struct loops loops = {.m = &m};
        find_order(&loops);
        run_loops(&loops, 0);
        if (loops.falls_outside)
            continue;
        ran++;
        write_text(&text, &m);
        for (int k = 0; k < CONTEXTS; k++)
            if ((k != SIM || seed % ONE_IN == 0) && !gives(contexts[k], &text, loops.z)) {
                failures++;
                printf("seed %llu, %s:\n%s", (unsigned long long)seed, hows[k], text.bytes);
            }
    }
    for (int k = 0; k < CONTEXTS; k++)
        leat_close(contexts[k]);
    printf("%d of %llu programs ran; %d differences\n", ran, (unsigned long long)count, failures);
    return failures || (count >= 100 && (uint64_t)ran * 2 < count);
}
