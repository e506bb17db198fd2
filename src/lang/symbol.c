/* Symbols are created at their first use. Later uses determine whether they are arrays, and their rank. */
#include "lang/check.h"
#include <string.h>

_Noreturn void le_checker_leave(struct le_checker *c) {
    longjmp(*c->failure, 1);
}

_Noreturn void le_checker_fail(struct le_checker *c, struct le_location location, const char *expected,
                               const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    le_errors_add(LEAT_PROGRAM, location, expected, format, arguments);
    va_end(arguments);
    le_checker_leave(c);
}

struct le_name *le_checker_name(struct le_checker *c, const char *text) {
    size_t length = strlen(text);
    int known = le_names_get(&c->numbers, text, length);
    if (known >= 0)
        return c->names.at[known];
    struct le_name *name = LE_NEW(c->arena, struct le_name);
    name->text = text;
    le_names_put(c->arena, &c->numbers, text, length, c->names.count);
    *LE_PUSH(c->arena, &c->names) = name;
    return name;
}

/* name NULL: the symbol has no name. Inputs belong to the program, wherever they are first used. */
struct le_symbol *le_checker_add_symbol(struct le_checker *c, struct le_name *name, struct le_symbol *symbol) {
    symbol->id = c->symbols.count;
    *LE_PUSH(c->arena, &c->symbols) = symbol;
    symbol->in_block = c->now.block && !symbol->is_input;
    symbol->local = c->now.element && !symbol->is_input;
    if (!name)
        return symbol;
    if (symbol->in_block) {
        le_checker_bind(c, name, symbol, NULL);
        return symbol;
    }
    name->symbol = symbol;
    le_names_put(c->arena, &c->tree->names, symbol->name, strlen(symbol->name), symbol->id);
    if (name->wants_out) {
        symbol->marked_out = true;
        symbol->location = symbol->out_location = name->out_location;
    }
    return symbol;
}

struct le_symbol *le_checker_input(struct le_checker *c, struct le_name *name, enum le_name_use use,
                                   struct le_location location) {
    struct le_symbol *symbol = LE_NEW(c->arena, struct le_symbol);
    symbol->name = name->text;
    symbol->location = location;
    symbol->is_input = true;
    symbol->any_kind = use != LE_USE_SCALAR;
    return le_checker_add_symbol(c, name, symbol);
}

static _Noreturn void fail_rank(struct le_checker *c, const struct le_symbol *symbol, int count,
                                struct le_location location) {
    le_checker_fail(c, location,
                    le_arena_format(c->arena, "write as many subscripts as on line %d", symbol->location.line), "%s",
                    le_rank_text(c->arena, symbol->name, symbol->rank, count));
}

/* The rank of an array that the program defines with `...` depends on the inputs, so it is not checked here. */
static void use_any_rank(struct le_checker *c, struct le_symbol *symbol, int count, bool dots,
                         struct le_location location) {
    if (!symbol->is_input)
        return;
    if (!dots && count < symbol->rank)
        le_checker_fail(c, location, NULL, "'%s' has at least %d axes, but fewer subscripts are given", symbol->name,
                        symbol->rank);
    if (count > symbol->rank)
        symbol->rank = count;
    symbol->any_rank = dots;
}

void le_checker_use_array(struct le_checker *c, struct le_symbol *symbol, int count, bool dots,
                          struct le_location location) {
    if (count > LEAT_RANK_MAX)
        le_checker_fail(c, location, NULL, "'%s' has %d axes; the limit is %d", symbol->name, count, LEAT_RANK_MAX);
    if (symbol->any_kind) {
        symbol->any_kind = false;
        symbol->is_array = symbol->any_rank = true;
        symbol->rank = 1;
    }
    if (!symbol->is_array)
        le_checker_fail(c, location,
                        le_arena_format(c->arena, "write it without [ ]: it is a scalar, as used on line %d",
                                        symbol->location.line),
                        "'%s' is a scalar and has no subscripts", symbol->name);
    if (symbol->any_rank)
        use_any_rank(c, symbol, count, dots, location);
    else if (dots ? count > symbol->rank : count != symbol->rank)
        fail_rank(c, symbol, count, location);
}

void le_checker_use_scalar(struct le_checker *c, struct le_symbol *symbol, struct le_location location) {
    symbol->any_kind = false;
    if (symbol->is_array)
        le_checker_fail(c, location,
                        le_arena_format(c->arena, "write %s[i], or sum(i: %s[i])", symbol->name, symbol->name),
                        "'%s' is an array and needs subscripts", symbol->name);
}
