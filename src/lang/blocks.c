/* Statements with blocks become steps that enclose the steps of their blocks. An `each` and its body are one statement:
 * indices and accesses are collected until it ends. */
#include "lang/check.h"
#include <limits.h>
#include <string.h>

/* ---- blocks */

static void check_block(struct le_checker *c, struct le_stmts stmts) {
    le_checker_open(c, c->now.block, INT_MAX);
    le_check_statements(c, stmts);
    le_checker_close(c);
}

/* Blocks and expressions share one limit of depth. */
static void start(struct le_checker *c, const struct le_stmt *stmt, const char *no_indices) {
    le_checker_start(c, stmt, no_indices);
    if (++c->now.depth >= LE_DEPTH_MAX) /* an expression needs one more */
        le_checker_fail(c, stmt->location, "split it into several statements",
                        "blocks and else-ifs are nested too deeply (limit: %d)", LE_DEPTH_MAX);
}

static int open_step(struct le_checker *c, enum le_step_kind kind, struct le_tree_node *value) {
    struct le_step *step = le_checker_step(c, kind, c->now.stmt->location);
    step->value = value;
    le_checker_finish(c, step);
    return c->now.steps->count - 1;
}

static void close_step(struct le_checker *c, int opened) {
    le_checker_step(c, LE_STEP_END, c->now.stmt->location)->partner = opened;
    c->now.steps->at[opened].partner = c->now.steps->count - 1;
}

/* ---- if */

static int open_else(struct le_checker *c, int opened) {
    le_checker_step(c, LE_STEP_ELSE, c->now.stmt->location);
    c->now.steps->at[opened].partner = c->now.steps->count - 1;
    return c->now.steps->count - 1;
}

/* A chain of else-ifs is handled in a loop: each link stands in the `else` of the previous one. */
static void check_if(struct le_checker *c, const struct le_stmt *stmt) {
    struct {
        int *at, count, capacity;
    } opened = {0};
    int guards = c->now.guards;
    for (const struct le_stmt *link = stmt; link; link = le_stmt_chained(link)) {
        start(c, link, LE_SCALAR_NEEDED);
        *LE_PUSH(c->arena, &opened) = open_step(c, LE_STEP_IF, le_resolve_scalar(c, link->value));
        c->now.guards = guards + 1;
        c->now.conditional = c->now.conditional || c->now.in_for;
        check_block(c, link->body);
        if (link->otherwise_body.count == 0)
            break;
        opened.at[opened.count - 1] = open_else(c, opened.at[opened.count - 1]);
        if (!le_stmt_chained(link))
            check_block(c, link->otherwise_body);
    }
    while (opened.count > 0)
        close_step(c, opened.at[--opened.count]);
}

/* ---- loops */

static void check_while(struct le_checker *c, const struct le_stmt *stmt) {
    start(c, stmt, LE_SCALAR_NEEDED);
    int opened = open_step(c, LE_STEP_WHILE, le_resolve_scalar(c, stmt->value));
    c->now.loop = opened;
    c->now.guards++;
    c->now.conditional = c->now.conditional || c->now.in_for;
    check_block(c, stmt->body);
    close_step(c, opened);
}

static struct le_index *for_index(struct le_checker *c, const struct le_stmt *stmt) {
    const struct le_ast_binder *binder = &stmt->binders.at[0];
    struct le_name *name = le_checker_name(c, stmt->name);
    if (name->conflict)
        le_checker_leave(c);
    le_checker_unused(c, name, binder->location);
    int place = c->all.count;
    struct le_index *index = le_checker_index(c, name, binder->location);
    struct le_scope scope = le_checker_scope(c);
    le_checker_range(c, index, &binder->range, &scope);
    le_checker_no_dots(c);
    index->loop = true;
    index->host = !c->now.element;
    if (index->host) { /* the host's index does not belong to the statement of its bounds */
        c->all.count--;
        memmove(&c->all.at[place], &c->all.at[place + 1], (size_t)(c->all.count - place) * sizeof *c->all.at);
    }
    return index;
}

static bool moves(const struct le_tree_node *node, const void *user) {
    (void)user;
    return node->kind == LE_TREE_INDEX || node->kind == LE_TREE_READ ||
           (node->kind == LE_TREE_SCALAR && node->symbol->assigned);
}

/* It is inside another `for` and its ends may change with it, so it may be empty for some values of the outer index. */
static bool may_be_empty(const struct le_checker *c, const struct le_index *index) {
    return index->host && c->now.in_for &&
           (le_tree_any(index->low, moves, NULL) || le_tree_any(index->high, moves, NULL));
}

static void check_for(struct le_checker *c, const struct le_stmt *stmt) {
    struct le_position *now = &c->now;
    start(c, stmt, LE_SCALAR_NEEDED);
    struct le_index *index = for_index(c, stmt);
    bool leaves = le_stmts_leave(stmt->body, true);
    if (!index->host)
        c->around[now->around_count++] = index;
    int opened = open_step(c, LE_STEP_FOR, NULL);
    now->steps->at[opened].index = index;
    now->loop = opened;
    now->guards += leaves;
    now->conditional = now->conditional || leaves || may_be_empty(c, index);
    now->in_for = true;
    le_checker_open(c, now->block, INT_MAX);
    le_checker_bind(c, le_checker_name(c, stmt->name), NULL, index);
    le_check_statements(c, stmt->body);
    le_checker_close(c);
    close_step(c, opened);
}

static void check_break(struct le_checker *c, const struct le_stmt *stmt) {
    le_checker_start(c, stmt, LE_SCALAR_NEEDED);
    if (c->now.loop < 0)
        le_checker_leave(c); /* structure.c has reported it */
    le_checker_step(c, LE_STEP_BREAK, stmt->location)->partner = c->now.loop;
}

static void check_return(struct le_checker *c, const struct le_stmt *stmt) {
    if (!c->now.in_call)
        le_checker_leave(c);
    le_checker_start(c, stmt, LE_SCALAR_NEEDED);
    struct le_tree_node *value = le_resolve_scalar(c, stmt->value);
    le_checker_step(c, LE_STEP_RETURN, stmt->location)->value = value;
}

/* ---- each */

static void bind_indices(struct le_checker *c, const struct le_stmt *stmt) {
    for (int k = 0; k < stmt->binders.count; k++) {
        const struct le_ast_binder *binder = &stmt->binders.at[k];
        if (binder->dots)
            continue;
        struct le_name *name = le_checker_name(c, binder->name);
        if (name->conflict)
            le_checker_leave(c);
        le_checker_unused(c, name, binder->location);
        struct le_index *index = le_checker_index(c, name, binder->location);
        struct le_scope scope = le_checker_scope(c);
        if (binder->has_range)
            le_checker_range(c, index, &binder->range, &scope);
        le_checker_no_dots(c);
        *LE_PUSH(c->arena, &c->free) = index;
        le_checker_bind(c, name, NULL, index);
    }
}

/* An array that the body writes. */
struct written {
    const struct le_tree_node *left;
    bool read;
    struct le_location wrong;            /* the first store that does not fit; {0}: all do */
    struct le_location read_number_base; /* of the read that the message names */
    unsigned axes[LE_INDICES_MAX]; /* by index of the each: bit mask of the axes at which all accesses have it bare */
};

/* Bit mask of the axes whose subscript is the bare index. */
static unsigned bare_axes(const struct le_tree_node *node, const struct le_index *index) {
    unsigned axes = 0;
    for (int d = 0; d < node->child_count; d++)
        if (node->children[d]->kind == LE_TREE_INDEX && node->children[d]->index == index)
            axes |= 1u << d;
    return axes;
}

static void add_access(struct le_checker *c, struct written *written, const struct le_access *access) {
    const struct le_tree_node *node = access->node;
    bool fits = !c->now.binds_dots || (node->dots && node->child_count == written->left->child_count);
    for (int i = 0; i < c->free.count; i++) {
        unsigned axes = fits ? bare_axes(node, c->free.at[i]) : 0;
        fits = fits && (written->axes[i] & axes) != 0;
        written->axes[i] &= axes;
    }
    if (!fits && c->free.count == 0)
        written->axes[0] = 0; /* stands for `...` */
    if (!access->left && (!written->read || !fits))
        written->read_number_base = node->location;
    if (access->left && !fits && written->wrong.line == 0)
        written->wrong = node->location;
    written->read = written->read || !access->left;
}

static void check_written(struct le_checker *c, const struct written *written) {
    const char *name = written->left->symbol->name;
    struct le_location location = written->wrong.line ? written->wrong : written->left->location;
    for (int i = 0; written->read && i < c->free.count + (c->free.count == 0); i++)
        if (written->axes[i] == 0)
            le_checker_fail(
                c, location, "write to another array, or read a copy that is made before the each",
                "'%s' is written here and read in line %d: in an each both need '%s' bare, in the same place", name,
                written->read_number_base.line, c->free.count ? c->free.at[i]->name : "...");
}

/* An array that the body writes may be read there only at the element's own position. */
static void check_own(struct le_checker *c) {
    struct {
        struct written *at;
        int count, capacity;
    } all = {0};
    struct le_names numbers = {0}; /* by symbol */
    for (int k = 0; k < c->accesses.count; k++) {
        const struct le_access *access = &c->accesses.at[k];
        const char *key = (const char *)&access->node->symbol;
        if (!access->left || le_names_get(&numbers, key, sizeof access->node->symbol) >= 0)
            continue;
        le_names_put(c->arena, &numbers, key, sizeof access->node->symbol, all.count);
        struct written *written = LE_PUSH(c->arena, &all);
        *written = (struct written){.left = access->node};
        memset(written->axes, -1, sizeof written->axes);
    }
    for (int k = 0; k < c->accesses.count; k++) {
        const struct le_access *access = &c->accesses.at[k];
        int number = le_names_get(&numbers, (const char *)&access->node->symbol, sizeof access->node->symbol);
        if (number >= 0)
            add_access(c, &all.at[number], access);
    }
    for (int k = 0; k < all.count; k++)
        check_written(c, &all.at[k]);
}

static void check_each(struct le_checker *c, const struct le_stmt *stmt) {
    struct le_position *now = &c->now;
    if (now->element)
        le_checker_leave(c); /* structure.c has reported it */
    start(c, stmt, "an each must bind all of its indices");
    le_checker_open(c, now->block, INT_MAX);
    bind_indices(c, stmt);
    int opened = open_step(c, LE_STEP_EACH, NULL);
    now->element = now->block;
    now->binds_dots = stmt->binders.at[0].dots;
    now->loop = -1;
    le_check_statements(c, stmt->body);
    now->stmt = stmt;
    check_own(c);
    le_checker_close(c);
    close_step(c, opened);
    now->element = NULL;
    now->steps->at[opened].dots = now->binds_dots;
    le_checker_finish(c, &now->steps->at[opened]);
}

/* ---- all */

static void hoist_declarations(struct le_checker *c, const struct le_stmts *stmts);

/* Inputs belong to the program: an `in` inside a block is handled before the outermost block. */
static void hoist(struct le_checker *c, const struct le_stmt *stmt) {
    for (const struct le_stmt *next = stmt; next; next = le_stmt_chained(stmt)) {
        stmt = next;
        if (stmt->kind == LE_STMT_DECL && stmt->decl == LE_DECL_IN)
            le_check_try(c, stmt, le_check_declaration);
        if (stmt->kind != LE_STMT_DEF)
            hoist_declarations(c, &stmt->body);
    }
    hoist_declarations(c, &stmt->otherwise_body);
}

static void hoist_declarations(struct le_checker *c, const struct le_stmts *stmts) {
    for (int k = 0; k < stmts->count; k++)
        hoist(c, stmts->at[k]);
}

void le_check_control(struct le_checker *c, const struct le_stmt *stmt) {
    if (!c->now.block)
        hoist(c, stmt);
    switch (stmt->kind) {
    case LE_STMT_IF:
        check_if(c, stmt);
        break;
    case LE_STMT_WHILE:
        check_while(c, stmt);
        break;
    case LE_STMT_FOR:
        check_for(c, stmt);
        break;
    case LE_STMT_EACH:
        check_each(c, stmt);
        break;
    case LE_STMT_RETURN:
        check_return(c, stmt);
        break;
    default:
        check_break(c, stmt);
        break;
    }
}
