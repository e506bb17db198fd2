/* Draws programs, one statement at a time. */
#include "program_make.h"
#include <stddef.h>
#include <string.h>

enum { TRIES = 4 };
enum { POINTS_USUAL = 700, STEPS_USUAL = 60000, LARGE_EVERY = 500, POINTS_LARGE = 1 << 18, STEPS_LARGE = 4000000 };

static const int64_t common_extents[] = {1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8};

static void draw_habits(struct maker *m) {
    static const int wholes[] = {LEAT_I64, LEAT_I64, LEAT_I64, LEAT_I32, LEAT_I32,
                                 LEAT_U8,  LEAT_I16, LEAT_I8,  LEAT_U16, LEAT_U32};
    for (int k = 0; k < DIMS_MAX; k++)
        m->dims[k] = k && chance(m, 30) ? m->dims[0] : common_extents[draw(m, 15)];
    if (chance(m, 5))
        m->dims[draw(m, DIMS_MAX)] = 0;
    if (chance(m, 5))
        m->dims[draw(m, DIMS_MAX)] = 9 + draw(m, 40);
    m->points_max = POINTS_USUAL;
    m->source->steps_max = STEPS_USUAL;
    if (m->seed % LARGE_EVERY == 1) { /* enough for several threads */
        m->points_max = POINTS_LARGE;
        m->source->steps_max = STEPS_LARGE;
        m->dims[1] = 3 + draw(m, 3);
        m->dims[0] = draw(m, 2) ? 2000 + draw(m, 3000) : 40000 + draw(m, 30000);
    }
    for (int k = 0; k < 2; k++)
        m->whole_types[k] = wholes[draw(m, 10)];
    m->real_type = chance(m, 50) ? LEAT_F64 : LEAT_F32;
    m->habits = (struct habits){.inferred = chance(m, 40)   ? 85
                                            : chance(m, 50) ? 40
                                                            : 5,
                                .computed = chance(m, 30)   ? 5
                                            : chance(m, 50) ? 25
                                                            : 45,
                                .guarded = chance(m, 40) ? 18 : 3,
                                .reducing = chance(m, 50) ? 20 : 8,
                                .calling = 25,
                                .controlled = chance(m, 40) ? 30 : 4};
    m->is_plain = m->seed % PLAIN_EVERY == 0;
    if (!m->is_plain)
        return;
    m->whole_types[0] = m->whole_types[1] = LEAT_I64;
    m->habits.guarded = m->habits.calling = 0;
    m->habits.controlled = 40;
}

static void make_numbers(struct maker *m) {
    for (int k = 0; k < 2; k++) {
        if (!chance(m, 25))
            continue;
        struct symbol *input = new_symbol(m->source, 'c', false);
        input->is_input = true;
        input->is_number = chance(m, 70);
        input->value_class = WHOLE;
        input->dtype = input->type = input->is_number ? LEAT_I64 : m->whole_types[0];
        input->number = draw(m, 5);
        add_name(m, input);
    }
}

/* Records the oracle's results for the names, for the next statements. */
static void learn(struct maker *m) {
    for (int k = 0; k < m->name_count; k++) {
        struct symbol *symbol = m->names[k];
        if (symbol->type == LEAT_BOOL)
            symbol->value_class = TRUTH;
        else
            symbol->value_class = is_real_type(symbol->type) ? REAL : WHOLE;
    }
}

static void cut(struct maker *m, struct statement **end, size_t used_bytes, int symbol_count, int name_count) {
    *end = NULL;
    m->source->used_bytes = used_bytes;
    m->source->symbol_count = symbol_count;
    m->name_count = name_count;
}

/* Gives a range to indices that have none. */
static enum verdict run_with_ranges(struct maker *m) {
    enum verdict verdict = oracle_run(m->oracle, m->source, false);
    for (int k = 0; k < 6 && verdict != RUNS && m->oracle->unranged; k++) {
        struct index *index = m->oracle->unranged;
        if (index->low)
            break;
        set_range(m, index, index->planned_low, index->planned_high);
        verdict = oracle_run(m->oracle, m->source, false);
    }
    return verdict;
}

/* Returns whether the statement was kept. is_last: it fails, so it is the last one. */
static bool add_statement(struct maker *m, struct statement **end, bool *is_last) {
    for (int k = 0; k < TRIES; k++) {
        size_t used_bytes = m->source->used_bytes;
        int symbol_count = m->source->symbol_count, name_count = m->name_count;
        m->plan_count = m->written_count = m->block_depth = 0;
        m->in_each = m->is_free = false;
        *end = make_statement(m);
        enum verdict verdict = run_with_ranges(m);
        if (verdict == RUNS) {
            learn(m);
            return true;
        }
        if (verdict != UNSUITABLE && chance(m, 4)) {
            *is_last = true;
            return true;
        }
        cut(m, end, used_bytes, symbol_count, name_count);
    }
    return false;
}

void make_program(struct source *source, struct oracle *oracle, uint64_t seed) {
    struct maker m = {.source = source, .oracle = oracle, .seed = seed};
    memset(source, 0, offsetof(struct source, memory));
    source->seed = seed;
    draw_habits(&m);
    for (int left = (int)draw(&m, DEFS_MAX + 1); left > 0 && !m.is_plain && chance(&m, 70); left--)
        make_definition(&m);
    make_numbers(&m);
    struct statement **end = &source->body;
    bool is_last = false;
    int count = 1 + (int)draw(&m, 6);
    for (int k = 0; k < count && !is_last; k++) {
        add_statement(&m, end, &is_last);
        while (*end)
            end = &(*end)->next;
    }
    drop_uncalled(source);
    oracle_run(oracle, source, false);
}
