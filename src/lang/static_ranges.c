/* The range rules (ir/ranges.c) applied to the text alone. An index is reported only if no input can give it a range:
 * unknown factors are assumed to be whatever gives it one. Extents are known for arrays whose sizes are written in the
 * program; an input of another size is refused. */
#include "lang/static_ranges.h"
#include "lang/program_error.h"
#include "lang/static_form.h"
#include <string.h>

/* An axis over which an index may run. */
struct axis {
    const struct le_access *access; /* NULL: none */
    int number;
    bool known;
    int64_t extent; /* if known */
};

struct subscript {
    struct axis axis;
    struct le_static_form form;
};

struct found {
    bool solved; /* it has a range, or may get one from the inputs */
    bool known;  /* the range is low, low + by, ... below high */
    int64_t low, high, by;
    struct axis bare, offset; /* an axis where it is bare, and one where it is i+c */
    bool other;               /* other subscripts may bound it, too */
};

struct statics {
    struct le_arena *arena;
    struct le_static_shape *shapes; /* by symbol */
    struct found *found;            /* by index */
    const struct le_step *step;     /* the statement */
    int blocks;                     /* number of enclosing host blocks; if not 0, the statement may not run */
    bool changed;
};

const char *le_range_advice(struct le_arena *arena, const char *index, enum le_index_use use) {
    if (use == LE_INDEX_OF_EACH)
        return le_arena_format(arena, "write `each %s in low..high`", index);
    if (use == LE_INDEX_OF_REDUCTION)
        return le_arena_format(arena, "write `%s in low..high` in the reduction", index);
    return le_arena_format(arena, "add `where %s in low..high`", index);
}

const char *le_extents_advice(struct le_arena *arena, const char *index) {
    return le_arena_format(arena, "use arrays of equal extents, or add `where %s in low..high`", index);
}

const char *le_subscript_text(struct le_arena *arena, __int128 low, __int128 high) {
    if (low == high)
        return le_arena_format(arena, "is %lld", (long long)low);
    return le_arena_format(arena, "goes from %lld to %lld", (long long)low, (long long)high);
}

const char *le_outside_advice(struct le_arena *arena, const char *array, int axis, bool negative, bool written) {
    if (negative)
        return le_arena_format(arena, "subscripts count from 0: for the last element write len(%s,%d)-1", array, axis);
    return written ? "add a `where` that stays in range, or declare a longer array"
                   : "add an edge mode, `else`, or `where`";
}

/* ---- explicit ranges */

static void check_step(const struct le_index *index, int64_t by) {
    if (by == 0 && index->loop)
        le_program_error_add(LEAT_PROGRAM, index->by->location, LE_LOOP_STEP_ADVICE, "`by` must not be zero");
    else if (by <= 0 && !index->loop)
        le_program_error_add(LEAT_PROGRAM, index->location, LE_STEP_ADVICE, "index '%s': `by` must be positive",
                             index->name);
}

/* Returns whether the bound is known. */
static bool find_bound(struct statics *s, const struct le_index *index, const struct le_tree_node *node,
                       int64_t *value) {
    if (!le_static_value(node, s->shapes, value))
        return false;
    if (!index->loop && (*value < -LE_INDEX_MAX || *value > LE_INDEX_MAX))
        le_program_error_add(LEAT_PROGRAM, index->location, LE_FAR_ADVICE, "the range of index '%s' is too large",
                             index->name);
    return true;
}

static void find_explicit(struct statics *s, const struct le_index *index) {
    struct found *found = &s->found[index->id];
    *found = (struct found){.by = 1};
    if (!index->has_range)
        return;
    bool known_step = !index->by || find_bound(s, index, index->by, &found->by);
    if (known_step)
        check_step(index, found->by);
    bool known_low = find_bound(s, index, index->low, &found->low);
    bool known_high = find_bound(s, index, index->high, &found->high);
    found->solved = true;
    found->known = known_low && known_high && known_step && found->by > 0;
}

/* ---- subscripts */

typedef void visit_subscript(struct statics *s, const struct subscript *subscript);

static void visit_all(struct statics *s, visit_subscript *visit) {
    for (int k = 0; k < s->step->access_count; k++) {
        const struct le_access *access = &s->step->accesses[k];
        const struct le_static_shape *shape = &s->shapes[access->node->symbol->id];
        for (int d = 0; d < access->node->child_count; d++) {
            bool known = shape->known[d] && !access->node->dots;
            struct subscript subscript = {.axis = {access, d, known, shape->extents[d]}};
            le_static_form_of(access->node->children[d], s->shapes, &subscript.form);
            if (subscript.form.affine)
                visit(s, &subscript);
        }
    }
}

/* Visits the indices without a range in the bounds of a range, directly or through the bounds of other indices. */
struct bounds {
    struct statics *s;
    void (*visit)(struct statics *s, const struct le_index *index);
    int depth;
};

static void visit_bounds(const struct bounds *bounds, const struct le_index *index);

static bool visit_index(const struct le_tree_node *node, const void *user) {
    const struct bounds *bounds = user;
    if (node->kind == LE_TREE_INDEX && !node->index->has_range)
        bounds->visit(bounds->s, node->index);
    else if (node->kind == LE_TREE_INDEX && !node->index->host)
        visit_bounds(bounds, node->index);
    return false;
}

static void visit_bounds(const struct bounds *bounds, const struct le_index *index) {
    struct bounds inner = {bounds->s, bounds->visit, bounds->depth + 1};
    if (!index->has_range || inner.depth > LE_INDICES_MAX)
        return;
    le_tree_any(index->low, visit_index, &inner);
    le_tree_any(index->high, visit_index, &inner);
}

static void visit_tied(struct statics *s, const struct subscript *subscript,
                       void (*visit)(struct statics *s, const struct le_index *index)) {
    for (int k = 0; k < subscript->form.count; k++)
        visit_bounds(&(struct bounds){s, visit, 0}, subscript->form.terms[k].index);
}

/* ---- indices that may have a range */

static void mark_solved(struct statics *s, const struct le_index *index) {
    struct found *found = &s->found[index->id];
    s->changed |= !found->solved;
    found->solved = true;
}

/* The subscript may give an index a range if all other indices with a known factor have one. */
static void solve_subscript(struct statics *s, const struct subscript *subscript) {
    const struct le_static_form *form = &subscript->form;
    const struct le_index *missing = NULL;
    int count = 0;
    for (int k = 0; k < form->count; k++) {
        if (form->terms[k].factor == 0 || s->found[form->terms[k].index->id].solved)
            continue;
        missing = form->terms[k].index;
        count++;
    }
    if (count == 1)
        mark_solved(s, missing);
    if (count > 0)
        return;
    for (int k = 0; k < form->count; k++)
        mark_solved(s, form->terms[k].index);
    visit_tied(s, subscript, mark_solved);
}

static const struct le_index *first_unsolved(const struct statics *s) {
    for (int k = 0; k < s->step->all_count; k++)
        if (!s->found[s->step->all[k]->id].solved)
            return s->step->all[k];
    return NULL;
}

static enum le_index_use use_of(const struct le_step *step, const struct le_index *index) {
    for (int k = 0; k < step->free_count; k++)
        if (step->free[k] == index)
            return step->kind == LE_STEP_EACH ? LE_INDEX_OF_EACH : LE_INDEX_OF_STATEMENT;
    return LE_INDEX_OF_REDUCTION;
}

/* A reduction may bind the same name: `y[i] = sum(i: x[i])`. */
static const char *unsolved_advice(const struct statics *s, const struct le_index *index) {
    enum le_index_use use = use_of(s->step, index);
    for (int k = 0; use != LE_INDEX_OF_REDUCTION && k < s->step->all_count; k++) {
        const struct le_index *other = s->step->all[k];
        if (other != index && strcmp(other->name, index->name) == 0)
            return le_arena_format(s->arena,
                                   "the '%s' of the reduction on line %d is another index: rename one of them",
                                   index->name, other->location.line);
    }
    return le_range_advice(s->arena, index->name, use);
}

static void solve(struct statics *s) {
    for (s->changed = true; s->changed && first_unsolved(s);) {
        s->changed = false;
        visit_all(s, solve_subscript);
    }
    for (int k = 0; k < s->step->all_count; k++) {
        const struct le_index *index = s->step->all[k];
        if (!s->found[index->id].solved)
            le_program_error_add(LEAT_PROGRAM, index->location, unsolved_advice(s, index), "index '%s' has no range",
                                 index->name);
    }
}

/* ---- known ranges */

static bool is_offset(const struct le_static_form *form) {
    return form->count == 1 && form->terms[0].factor == 1;
}

static void take_axis(struct statics *s, const struct le_index *index, struct axis *first, const struct axis *axis) {
    const struct axis *a = first;
    if (!a->access || !a->known) {
        *first = *axis;
    } else if (s->blocks == 0 && axis->known && axis->extent != a->extent) {
        le_program_error_add(LEAT_PROGRAM, axis->access->node->location, le_extents_advice(s->arena, index->name),
                             "index '%s': the extents differ: %s axis %d has %lld, %s axis %d has %lld", index->name,
                             a->access->node->symbol->name, a->number, (long long)a->extent,
                             axis->access->node->symbol->name, axis->number, (long long)axis->extent);
    }
}

static void note_other(struct statics *s, const struct le_index *index) {
    s->found[index->id].other = true;
}

static void note_bare(struct statics *s, const struct subscript *subscript) {
    const struct le_static_form *form = &subscript->form;
    const struct le_tree_node *written = subscript->axis.access->node->children[subscript->axis.number];
    if (written->kind == LE_TREE_INDEX && is_offset(form) && !form->terms[0].index->has_range)
        take_axis(s, form->terms[0].index, &s->found[form->terms[0].index->id].bare, &subscript->axis);
    else if (!is_offset(form) || subscript->axis.access->under_condition)
        for (int k = 0; k < form->count; k++)
            note_other(s, form->terms[k].index);
    visit_tied(s, subscript, note_other);
}

static void note_offset(struct statics *s, const struct subscript *subscript) {
    const struct le_static_form *form = &subscript->form;
    struct found *found = is_offset(form) ? &s->found[form->terms[0].index->id] : NULL;
    if (found && !found->bare.access && !found->other && !form->terms[0].index->has_range)
        take_axis(s, form->terms[0].index, &found->offset, &subscript->axis);
}

static void find_known(struct statics *s) {
    visit_all(s, note_bare);
    visit_all(s, note_offset);
    for (int k = 0; k < s->step->all_count; k++) {
        struct found *found = &s->found[s->step->all[k]->id];
        const struct axis *axis = found->bare.access ? &found->bare : &found->offset;
        if (!axis->access || !axis->known)
            continue;
        found->known = true;
        found->high = axis->extent;
    }
}

/* ---- subscripts out of range */

static bool has_points(const struct statics *s, struct le_index *const *indices, int count) {
    for (int k = 0; k < count; k++) {
        const struct found *found = &s->found[indices[k]->id];
        if (!found->known || found->low >= found->high)
            return false;
    }
    return true;
}

/* Whether the access is performed in every run of the program. */
static bool is_made(const struct statics *s, const struct le_access *access) {
    bool has_else = access->has_else || (s->step->otherwise && !access->left);
    return s->blocks == 0 && !access->guarded && access->node->edge == LE_EDGE_NONE && !has_else &&
           has_points(s, s->step->free, s->step->free_count) && has_points(s, access->around, access->around_count);
}

static bool ends_of(const struct statics *s, const struct le_static_form *form, __int128 *low, __int128 *high) {
    *low = *high = form->constant;
    for (int k = 0; k < form->count; k++) {
        const struct found *r = &s->found[form->terms[k].index->id];
        int64_t factor = form->terms[k].factor;
        if (!r->known || r->low >= r->high || factor == 0)
            return false;
        int64_t last = r->low + (r->high - r->low - 1) / r->by * r->by;
        *low += (__int128)factor * (factor > 0 ? r->low : last);
        *high += (__int128)factor * (factor > 0 ? last : r->low);
    }
    return form->known;
}

static void check_outside(struct statics *s, const struct subscript *subscript) {
    const struct axis *axis = &subscript->axis;
    const char *name = axis->access->node->symbol->name;
    bool left = axis->access->left;
    __int128 low, high;
    if (!is_made(s, axis->access) || !ends_of(s, &subscript->form, &low, &high))
        return;
    if (low >= 0 && !(axis->known && high >= axis->extent))
        return;
    const char *length = axis->known ? le_arena_format(s->arena, " (length %lld)", (long long)axis->extent) : "";
    const char *ends = le_subscript_text(s->arena, low, high);
    le_program_error_add(LEAT_PROGRAM, axis->access->node->location,
                         le_outside_advice(s->arena, name, axis->number, high < 0, left),
                         "%s%s axis %d%s: subscript %s", left ? "write to " : "", name, axis->number, length, ends);
}

/* ---- shapes */

static void set_size(struct statics *s, const struct le_symbol *symbol, int axis, const struct le_tree_node *size) {
    struct le_static_shape *shape = &s->shapes[symbol->id];
    shape->known[axis] = le_static_value(size, s->shapes, &shape->extents[axis]);
    if (shape->known[axis] && shape->extents[axis] < 0)
        le_program_error_add(LEAT_PROGRAM, size->location, NULL, "%s axis %d: the size %lld is negative", symbol->name,
                             axis, (long long)shape->extents[axis]);
}

static void set_sizes(struct statics *s) {
    const struct le_step *step = s->step;
    for (int d = 0; step->kind == LE_STEP_NEW && d < step->size_count; d++)
        set_size(s, step->symbol, d, step->sizes[d]);
    if (step->kind == LE_STEP_AGREE)
        set_size(s, step->array, step->axis, step->value);
}

static bool is_dependent(const struct statics *s, const struct le_index *index) {
    struct le_static_form form;
    const struct le_tree_node *ends[] = {index->low, index->high};
    for (int k = 0; k < 2 && index->depends; k++) {
        le_static_form_of(ends[k], s->shapes, &form);
        for (int q = 0; form.affine && q < form.count; q++)
            if (form.terms[q].factor)
                return true;
    }
    return false;
}

static void set_shape(struct statics *s) {
    const struct le_step *step = s->step;
    for (int d = 0; d < step->left->child_count; d++) {
        const struct le_index *index = step->left->children[d]->index;
        const struct found *found = &s->found[index->id];
        struct le_static_shape *shape = &s->shapes[step->symbol->id];
        bool dependent = is_dependent(s, index);
        shape->known[d] = found->known && !step->left->dots;
        shape->extents[d] = found->high < 0 ? 0 : found->high;
        if (dependent || (found->known && (found->low != 0 || found->by != 1)))
            le_program_error_add(LEAT_PROGRAM, step->location, "declare its shape first",
                                 "'%s' is new, so index '%s' must start at 0 with step 1%s", step->symbol->name,
                                 index->name, dependent ? ", and end at the same value for every element" : "");
    }
}

/* ---- statements */

static void check_statement(struct statics *s) {
    const struct le_step *step = s->step;
    if (step->kind == LE_STEP_FOR && step->index->host)
        find_explicit(s, step->index);
    for (int k = 0; k < step->all_count; k++)
        find_explicit(s, step->all[k]);
    solve(s);
    find_known(s);
    visit_all(s, check_outside);
    set_sizes(s);
    if (step->kind == LE_STEP_ASSIGN && step->is_new && step->left)
        set_shape(s);
}

void le_check_ranges(struct le_arena *arena, const struct le_tree *tree) {
    struct statics s = {.arena = arena};
    s.shapes = LE_NEW_ARRAY(arena, tree->symbol_count, struct le_static_shape);
    s.found = LE_NEW_ARRAY(arena, tree->index_count, struct found);
    for (int k = 0; k < tree->step_count && !le_program_errors_full(); k++) {
        s.step = &tree->steps[k];
        if (s.step->kind == LE_STEP_END && tree->steps[s.step->partner].kind != LE_STEP_EACH)
            s.blocks--;
        check_statement(&s);
        s.blocks += s.step->kind == LE_STEP_FOR || s.step->kind == LE_STEP_WHILE || s.step->kind == LE_STEP_IF;
    }
}
