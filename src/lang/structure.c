/* Checks that statements are allowed where they are, before names are resolved: `break` in a loop, `return` in a def's
 * block, `each` outside of defs and of another `each`. Else-if chains are walked in a loop, because they may be very
 * long. */
#include "lang/check.h"
#include <string.h>

struct surroundings {
    bool loop, each, def;
};

const struct le_stmt *le_stmt_chained(const struct le_stmt *stmt) {
    const struct le_stmts *otherwise = &stmt->otherwise_body;
    bool chained = stmt->kind == LE_STMT_IF && otherwise->count == 1 && otherwise->at[0]->kind == LE_STMT_IF;
    return chained ? otherwise->at[0] : NULL;
}

/* ---- statements that leave */

bool le_stmt_leaves(const struct le_stmt *stmt, bool breaks) {
    bool loop = stmt->kind == LE_STMT_FOR || stmt->kind == LE_STMT_WHILE;
    if (stmt->kind == LE_STMT_RETURN || (breaks && stmt->kind == LE_STMT_BREAK))
        return true;
    if (stmt->kind == LE_STMT_DEF)
        return false;
    for (const struct le_stmt *next; (next = le_stmt_chained(stmt)); stmt = next)
        if (le_stmts_leave(stmt->body, breaks))
            return true;
    return le_stmts_leave(stmt->body, breaks && !loop) || le_stmts_leave(stmt->otherwise_body, breaks);
}

bool le_stmts_leave(struct le_stmts stmts, bool breaks) {
    for (int k = 0; k < stmts.count; k++)
        if (le_stmt_leaves(stmts.at[k], breaks))
            return true;
    return false;
}

bool le_stmts_end(struct le_stmts stmts) {
    for (int k = 0; k < stmts.count; k++)
        if (le_stmt_ends(stmts.at[k]))
            return true;
    return false;
}

bool le_stmt_ends(const struct le_stmt *stmt) {
    for (const struct le_stmt *next; (next = le_stmt_chained(stmt)); stmt = next)
        if (!le_stmts_end(stmt->body))
            return false;
    if (stmt->kind == LE_STMT_IF)
        return le_stmts_end(stmt->body) && le_stmts_end(stmt->otherwise_body);
    return stmt->kind == LE_STMT_BREAK || stmt->kind == LE_STMT_RETURN;
}

/* ---- allowed positions */

static void report_statement(const struct le_stmt *stmt, const char *word, const char *expected, const char *message) {
    struct le_location location = stmt->location;
    location.span = (int)strlen(word);
    le_program_error_add(LEAT_PROGRAM, location, expected, "%s", message);
}

static void check_all(struct le_stmts stmts, struct surroundings around);

static void check_position(const struct le_stmt *stmt, const struct surroundings *around) {
    switch (stmt->kind) {
    case LE_STMT_BREAK:
        if (!around->loop)
            report_statement(stmt, "break", "write it inside the loop that it should leave",
                             "'break' outside of a `for` or `while`");
        break;
    case LE_STMT_RETURN:
        if (!around->def)
            report_statement(stmt, "return", "assign the result to a name", "'return' outside of a def's block");
        break;
    case LE_STMT_EACH:
        if (around->def || around->each)
            report_statement(stmt, "each", "write a `for`",
                             around->each ? "an 'each' inside another 'each'" : "an 'each' inside a def");
        break;
    case LE_STMT_DECL:
        if (around->def && stmt->decl == LE_DECL_IN)
            report_statement(stmt, "in", "declare inputs above the def", "'in' inside a def");
        break;
    case LE_STMT_DEF:
        if (!stmt->value && !le_stmts_leave(stmt->body, false))
            le_program_error_add(LEAT_PROGRAM, stmt->location, "end its block with `return EXPRESSION`",
                                 "'%s' has no `return`", stmt->name);
        break;
    default:
        break;
    }
}

static void check_nested(const struct le_stmt *stmt, struct surroundings around) {
    check_position(stmt, &around);
    if (stmt->kind == LE_STMT_DEF)
        around = (struct surroundings){.def = true};
    if (stmt->kind == LE_STMT_EACH)
        around = (struct surroundings){.each = true};
    if (stmt->kind == LE_STMT_FOR || stmt->kind == LE_STMT_WHILE)
        around.loop = true;
    for (const struct le_stmt *next; (next = le_stmt_chained(stmt)); stmt = next)
        check_all(stmt->body, around);
    check_all(stmt->body, around);
    check_all(stmt->otherwise_body, around);
}

static void check_all(struct le_stmts stmts, struct surroundings around) {
    for (int k = 0; k < stmts.count && !le_program_errors_full(); k++)
        check_nested(stmts.at[k], around);
}

void le_check_structure(struct le_stmts stmts) {
    check_all(stmts, (struct surroundings){0});
}
