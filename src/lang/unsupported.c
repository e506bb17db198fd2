/* Statements that the language has and this version does not take yet: each is told where it stands. */
#include "lang/check.h"

static const char *const words[] = {
    [LE_STMT_EACH] = "each", [LE_STMT_FOR] = "for",       [LE_STMT_WHILE] = "while",
    [LE_STMT_IF] = "if",     [LE_STMT_RETURN] = "return", [LE_STMT_BREAK] = "break",
};

static struct le_place first_word(const struct le_stmt *stmt, const char *word) {
    struct le_place place = stmt->place;
    place.span = 0;
    while (word[place.span])
        place.span++;
    return place;
}

static bool is_supported(const struct le_stmt *stmt) {
    if (stmt->kind == LE_STMT_DEF && !stmt->value) {
        le_fault_add(LEAT_PROGRAM, first_word(stmt, "def"), "write def f(a) = expression",
                     "a 'def' with a block is not supported yet");
        return false;
    }
    if ((size_t)stmt->kind >= ARRAY_LEN(words) || !words[stmt->kind])
        return true;
    const char *word = words[stmt->kind];
    le_fault_add(LEAT_PROGRAM, first_word(stmt, word), NULL, "'%s' is not supported yet", word);
    return false;
}

bool le_check_supported(struct le_stmts stmts) {
    bool supported = true;
    for (int k = 0; k < stmts.count && !le_faults_full(); k++) {
        const struct le_stmt *stmt = stmts.at[k];
        supported = is_supported(stmt) && supported;
        while (stmt->kind == LE_STMT_IF && stmt->otherwise_body.count == 1 &&
               stmt->otherwise_body.at[0]->kind == LE_STMT_IF) { /* a chain of else-ifs */
            supported = le_check_supported(stmt->body) && supported;
            stmt = stmt->otherwise_body.at[0];
        }
        supported = le_check_supported(stmt->body) && supported;
        supported = le_check_supported(stmt->otherwise_body) && supported;
    }
    return supported;
}
