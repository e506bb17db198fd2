/* Inside the printer of the IR: print.c has the lines, print_nodes.c the nodes in them, print_region.c regions. */
#ifndef LE_PRINTER_H
#define LE_PRINTER_H
#include "base/text.h"
#include "ir/ir.h"

#define PRINT_DEPTH_MAX 64 /* of indentation: what is nested deeper stands below that */

struct printer {
    struct le_ir *ir; /* its nodes' marks are written */
    struct le_text *out;
    const char **shapes; /* by symbol and axis: what its extent is called; NULL: nothing */
    bool *namesakes;     /* by symbol: another one above has its name, or it has none */
    bool *declared;      /* by index */
    int *pending;        /* indices to declare */
    int pending_count, pending_capacity;
    int epoch, numbered; /* of the line at hand */
    int depth;           /* of indentation */
};

/* print_nodes.c */
void le_print_symbol(struct printer *p, int symbol);
void le_print_index(const struct le_ir *ir, int index, struct le_text *out);
void le_print_indices(const struct le_ir *ir, const int *indices, int count, struct le_text *out); /* {i.0, j.1} */
void le_print_local(const struct le_ir *ir, int local, struct le_text *out);
void le_print_node(struct printer *p, const struct le_node *n);
void le_print_operand(struct printer *p, const struct le_node *n); /* its number, if it has one */
void le_print_list(struct printer *p, struct le_node *const *nodes, int count);
void le_print_indent(struct printer *p);
void le_print_subscripts(const struct le_location *location, struct le_text *out);
/* Starts a line that shows these nodes; NULL ones are left out. The indices are declared. */
void le_print_begin(struct printer *p, struct le_node *const *nodes, int count);
/* Lines of the indices that are met for the first time. */
void le_print_declare(struct printer *p, const int *indices, int count);
void le_print_declare_of(struct printer *p, struct le_node *const *nodes, int count);

/* print_region.c: the lines of a region, behind `%n = ` */
void le_print_region(struct printer *p, const struct le_node *n);
#endif
