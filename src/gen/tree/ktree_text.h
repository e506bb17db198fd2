/* The words of a kernel's text, for the printer and for the reader in the tests. */
#ifndef LE_KTREE_TEXT_H
#define LE_KTREE_TEXT_H
#include "gen/tree/ktree.h"

/* An operation: "+", "sqrt", "quotient"; NULL: there is none with that code. */
const char *le_ktree_op_name(int code);
int le_ktree_op_arity(int code);
/* How tightly an operation binds that is written between its operands; 0: it is written before them. Both sides of a
 * comparison, and the right side of all others, bind more tightly. */
int le_ktree_op_binding(int code);
enum { LE_BINDING_SELECT = 1, LE_BINDING_COMPARISON = 4, LE_BINDING_PREFIX = 11 };

extern const char *const le_thread_number_names[LE_THREAD_NUMBERS];
extern const char *const le_ktree_updates[]; /* by enum le_scatter */
extern const char *const le_ktree_words[];   /* by enum le_statement_kind: how the statement begins */

/* The statement's first line, without its blocks. */
void le_ktree_print_line(const struct le_kernel_tree *t, const struct le_statement *s, struct le_text *out);
#endif
