/* Rows that data choose, as in y[i,j] = x[s[i],j]: all elements of a thread's vector lie in one row of the array. If
 * the row is in range, the vector is read at once, before its elements are computed. The range check of each element
 * stays where the element is needed, so that faults are found as without the vector. */
#include "gen/mapping/map.h"

/* The array's axis along which a vector of the inner axis lies, element by element, in range for all vectors; -1: none.
 */
static int vector_axis(const struct map *m, const struct le_node *load) {
    const struct le_layout *layout = &m->c.layouts[load->value];
    const int inner = m->axis_count - 1;
    struct map_place p = {.start = layout->offset, .known = true};
    struct le_affine f;
    int64_t factor = 0;
    const int d = le_map_dimension(m, load, inner, &factor);
    if (d < 0 || factor != 1 || layout->strides[d] != 1 || load->live || !le_map_stays_inside(m, load, d) ||
        !le_affine_of(m->c.space, load->operands[d], &f) || f.count != 1)
        return -1;
    p.start += f.constant + f.factor[0] * le_range_of(m->c.space, f.index[0])->low;
    p.strides[inner] = 1;
    const int to_vector = le_map_to_vector(m, load->value, &p, inner, m->width, 1);
    return to_vector >= 0 && (to_vector + m->phase) % m->width == 0 ? d : -1;
}

/* Whether the row's subscripts are the same for all of a vector's elements, cannot fault themselves, and lead to
 * aligned vectors. */
static bool chooses_row(const struct map *m, const struct le_node *load, int along) {
    const struct le_address address = le_load_address(m->c.layouts, load);
    struct le_safety safety = m->c.safety;
    safety.in_subscript = true;
    for (int d = 0; d < address.rank; d++)
        if (d != along && !le_address_is_stretched(&address, d) &&
            (le_node_depends(load->operands[d], le_map_inner(m)->index) || load->operands[d]->reduces ||
             !le_node_is_safe(&safety, load->operands[d]) || address.layout->strides[d] % m->width != 0))
            return false;
    return true;
}

static void find_gather(struct le_node *node, void *user) {
    struct map *m = user;
    struct map_place p;
    bool known = false; /* another result reads it, too */
    for (int k = 0; k < m->gather_count; k++)
        known |= m->gathers[k].load == node;
    if (known || node->kind != LE_NODE_LOAD || m->gather_count == LE_AHEAD_MAX || node->operand_count == 0 ||
        le_map_is_plain(m, node, &p))
        return;
    const int d = vector_axis(m, node);
    if (d >= 0 && chooses_row(m, node, d))
        m->gathers[m->gather_count++] = (struct map_gather){.load = node, .axis = d};
}

void le_map_find_gathers(struct map *m) {
    m->gather_count = 0;
    if (m->way != MAP_FLAT || m->splits || m->scatters || m->windows || m->width == 1)
        return;
    for (int k = 0; k < m->result_count; k++)
        le_node_walk(m->c.ir, m->nodes[k], find_gather, m);
}

static unsigned unsafe_axes(const struct map *m, const struct map_gather *g) {
    const struct le_address address = le_load_address(m->c.layouts, g->load);
    unsigned axes = 0;
    for (int d = 0; d < address.rank && !g->load->trusted; d++)
        if (d != g->axis && !le_axis_is_safe(m->c.safety.space, &address, d))
            axes |= 1u << d;
    return axes;
}

static void read_row(struct map *m, const struct map_gather *g, const struct map_spot *at, struct le_variable *row) {
    struct le_kernel_tree *t = m->c.tree;
    const struct le_near near = {
        .load = g->load, .row_axis = -1, .column_axis = g->axis, .span = m->width, .checked = unsafe_axes(m, g)};
    struct le_expression *inside;
    struct le_block *base = le_ktree_open(t, at->turns);
    le_map_bind_inner(m, base, at->turn, le_ktree_int(t, 0));
    struct le_expression *from = le_codegen_near(&m->c, &near, base, &inside);
    struct le_block *within = inside ? le_ktree_open_if(t, base, inside) : base;
    le_ktree_copy(t, within, m->width, le_map_row_address(m, row, le_ktree_int(t, 0)), le_ktree_address(t, from));
    le_ktree_close_to(t, within, at->turns);
}

void le_map_read_gathers(struct map *m, const struct map_spot *at) {
    struct codegen *c = &m->c;
    for (int k = 0; k < m->gather_count; k++) {
        const struct map_gather *g = &m->gathers[k];
        const char *name = le_arena_format(c->arena, "%s_row", le_codegen_value_name(c, g->load->value));
        struct le_variable *row =
            le_map_declare_rows(m, at->turns, name, (int)c->ir->values.at[g->load->value].type, 1, m->width, true);
        read_row(m, g, at, row);
        c->ahead[k] =
            (struct codegen_ahead){g->load, le_ktree_element2(c->tree, row, le_ktree_int(c->tree, 0), at->element)};
    }
    c->ahead_count = m->gather_count;
    if (m->gather_count > 0)
        le_map_bind_inner(m, at->block, at->turn, at->element); /* instead of the vector's first element */
}
