/* Internals of the IR printer: print.c prints lines, print_nodes.c the nodes in them, print_region.c regions. */
#ifndef LE_PRINTER_H
#define LE_PRINTER_H
#include "base/text.h"
#include "ir/ir.h"

#define PRINT_DEPTH_MAX 64 /* of indentation; deeper blocks are not indented further */

struct printer {
    const struct le_ir *ir;
    struct le_text *out;
    const char **shapes; /* by symbol and axis: the name of its extent; NULL: none */
    bool *namesakes;     /* by symbol: an earlier one has the same name, or it has no name */
    bool *declared;      /* by index */
    int *pending;        /* indices to declare */
    int pending_count, pending_capacity;
    int epoch, numbered; /* of the current line */
    int depth;           /* of indentation */
};

/* print_nodes.c */
void le_print_symbol(struct printer *p, int symbol);
void le_print_index(const struct le_ir *ir, int index, struct le_text *out);
void le_print_indices(const struct le_ir *ir, const int *indices, int count, struct le_text *out); /* {i.0, j.1} */
void le_print_local(const struct le_ir *ir, int local, struct le_text *out);
void le_print_node(struct printer *p, const struct le_node *n);
void le_print_operand(struct printer *p, const struct le_node *n); /* prints its number, if it has one */
void le_print_list(struct printer *p, struct le_node *const *nodes, int count);
void le_print_indent(struct printer *p);
void le_print_location(const struct le_location *location, struct le_text *out);
/* Starts a line with these nodes: first prints the lines of the nodes that it refers to by number. NULL nodes are
 * ignored. Their indices must be declared. */
void le_print_begin(struct printer *p, struct le_node *const *nodes, int count);
/* Print lines for the indices that have not been declared. */
void le_print_declare(struct printer *p, const int *indices, int count);
void le_print_declare_of(struct printer *p, struct le_node *const *nodes, int count);

/* print_region.c: prints the lines of a region, after `%n = ` */
void le_print_region(struct printer *p, const struct le_node *n);
#endif
