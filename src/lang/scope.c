/* Blocks, and the meaning of names in them. A block sees the names of its enclosing blocks in the text. For a def that
 * is being inlined, these are not the blocks around the call. Changes that a block makes to a name are undone when it
 * ends. */
#include "lang/check.h"
#include <limits.h>

struct le_syntax_block *le_checker_open(struct le_checker *c, const struct le_syntax_block *outer, int limit) {
    struct le_syntax_block *block = LE_NEW(c->arena, struct le_syntax_block);
    *block = (struct le_syntax_block){.outer = outer, .limit = limit, .before = c->now.block, .mark = c->changes.count};
    c->now.block = block;
    return block;
}

/* Restores the name, and marks it as ended if the block had defined it, so that later uses are reported. Names of a
 * def's block were never visible outside. */
static void undo_change(struct le_checker *c, const struct le_change *change) {
    struct le_name *name = change->name;
    bool ends = name->binding != change->before.binding && name->binding->symbol;
    if (ends && !c->now.in_call)
        name->ended = true;
    if (ends && c->now.in_call && c->now.block != c->now.element)
        name->ended_in = c->now.element;
    name->broken = change->before.broken;
    name->binding = change->before.binding;
    name->definition = change->before.definition;
    name->edge = change->before.edge;
    name->fill = change->before.fill;
}

void le_checker_close(struct le_checker *c) {
    struct le_syntax_block *block = c->now.block;
    while (c->changes.count > block->mark)
        undo_change(c, &c->changes.at[--c->changes.count]);
    c->now.block = block->before;
}

void le_checker_unwind(struct le_checker *c, const struct le_syntax_block *block) {
    while (c->now.block != block)
        le_checker_close(c);
}

void le_checker_change(struct le_checker *c, struct le_name *name) {
    if (c->now.block)
        *LE_PUSH(c->arena, &c->changes) = (struct le_change){name, *name};
}

void le_checker_bind(struct le_checker *c, struct le_name *name, struct le_symbol *symbol, struct le_index *index) {
    le_checker_change(c, name);
    struct le_binding *binding = LE_NEW(c->arena, struct le_binding);
    *binding = (struct le_binding){.symbol = symbol, .index = index, .block = c->now.block, .older = name->binding};
    name->binding = binding;
}

/* Whether `block` is visible from `from`; *limit becomes the limit of visible defs. */
static bool is_visible(const struct le_syntax_block *from, const struct le_syntax_block *block, int *limit) {
    for (; from != block; from = from->outer) {
        if (!from)
            return false;
        if (from->limit < *limit)
            *limit = from->limit;
    }
    return true;
}

const struct le_binding *le_checker_binding(const struct le_name *name, const struct le_syntax_block *from) {
    int limit = INT_MAX;
    const struct le_binding *binding = name->binding;
    while (binding && !is_visible(from, binding->block, &limit))
        binding = binding->older;
    return binding;
}

struct le_symbol *le_checker_find(const struct le_name *name, const struct le_syntax_block *from) {
    const struct le_binding *binding = le_checker_binding(name, from);
    return binding ? binding->symbol : name->symbol;
}

const struct le_definition *le_checker_definition(const struct le_name *name, const struct le_scope *scope) {
    for (const struct le_definition *definition = name->definition; definition; definition = definition->older) {
        int limit = scope->limit;
        if (is_visible(scope->block, definition->block, &limit) && definition->number < limit)
            return definition;
    }
    return NULL;
}

bool le_syntax_block_within(const struct le_syntax_block *block, const struct le_syntax_block *outer) {
    int limit = INT_MAX;
    return is_visible(block, outer, &limit);
}
