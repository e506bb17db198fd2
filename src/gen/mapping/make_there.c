/* Fuses a stage into its readers. Totals of columns, which the IR has as arrays of their own, are computed again by
 * each stage that reads them, if that can keep strips of the columns on chip and this is faster: then the columns are
 * read once instead of once for each stage. The same holds for totals of a whole array that is kept as one row.
 *
 * The other cases are stages with one reader. What the maker computes for an element, a sum of few terms, is computed
 * where the reader needs it, if that lets the reader unroll a kept index (unroll_jam.c). A reduction that is part of
 * another one's terms has a kernel of its own, so that threads share its terms, unless its values take much memory
 * beside what they are computed from. Planning calls it for each stage that a device runs. It cannot be a pass of the
 * IR: whether sums are short, and whether a team takes the reader as it is then, depends on the extents of one binding
 * and on the device, which passes do not know. */
#include "gen/mapping/group_reduce.h"
#include <math.h>

#define STORED_SHARE 4 /* of what an inner reduction reads or computes, 1/4 may be stored and read again */
#define STORED_MOST  ((double)(64 << 20)) /* most bytes stored only to save computing */

struct read_search {
    const struct le_stage *maker;
    bool found;
};

static bool is_read_of(const struct le_stage *maker, const struct le_node *node) {
    return node->kind == LE_NODE_LOAD && node->value == maker->target;
}

static void find_read(struct le_node *node, void *user) {
    struct read_search *r = user;
    r->found |= is_read_of(r->maker, node);
}

bool le_device_reads(const struct le_ir *ir, const struct le_stage *stage, const struct le_stage *maker) {
    struct read_search r = {.maker = maker};
    if (stage->node)
        le_node_walk(ir, stage->node, find_read, &r);
    for (int d = 0; d < stage->left_count; d++)
        le_node_walk(ir, stage->left[d], find_read, &r);
    return r.found;
}

/* Replaces a load of the element that the maker computes at the same indices. Other loads of its array stay. */
static struct le_node *make_there(struct le_node *node, void *user) {
    const struct le_stage *maker = user;
    if (!is_read_of(maker, node))
        return NULL;
    for (int d = 0; d < node->operand_count; d++)
        if (node->operands[d] != maker->left[d])
            return node;
    return maker->node;
}

/* Whether the maker's array or number is not a result of the program, and each of its elements is computed by itself.
 */
static bool can_be_made_there(const struct codegen *c, const struct le_stage *maker) {
    const struct le_value *v = &c->ir->values.at[maker->target];
    if (maker->kind != LE_STAGE_MAP || maker->base >= 0 || v->symbol >= 0 || v->wanted)
        return false;
    for (int d = 0; d < maker->left_count; d++)
        if (maker->left[d]->kind != LE_NODE_INDEX)
            return false;
    return true;
}

/* Whether the kernel keeps columns, or, of a number, the whole array as one row. */
static bool is_kept(const struct le_mapping *m, const struct le_stage *maker) {
    return m->kind == LE_MAPPING_ROWS && (maker->left_count == 0 || le_mapping_get(m, "strip") > 0);
}

struct le_node *le_device_keep_there(const struct le_device_kernel_job *job, const struct le_stage *maker,
                                     double *gain_seconds) {
    struct codegen c;
    struct le_stage made = *job->kernel.stage;
    struct le_device_kernel_job own = *job;
    own.kernel = le_kernel_begin(&job->kernel);
    le_codegen_begin(&c, &own, &made, "");
    if (le_kernel_is_empty(&own.kernel) || made.kind != LE_STAGE_MAP || !can_be_made_there(&c, maker) ||
        !maker->node->reduces || maker->node->changes || !le_node_is_safe(&c.safety, maker->node))
        return NULL;
    made.node = le_node_replace(c.ir, made.node, make_there, (void *)(uintptr_t)maker);
    if (le_device_reads(c.ir, &made, maker))
        return NULL;
    const struct le_mapping *before = le_mapping_of_map(&own, job->kernel.stage),
                            *kept = le_mapping_of_map(&own, &made);
    if (!is_kept(kept, maker))
        return NULL;
    *gain_seconds += kept->forced ? INFINITY : before->seconds - kept->seconds;
    return made.node;
}

double le_device_seconds(const struct le_device_kernel_job *job) {
    struct le_device_kernel_job own = *job;
    own.kernel = le_kernel_begin(&job->kernel);
    return le_mapping_of_map(&own, job->kernel.stage)->seconds;
}

/* Whether the array of an inner reduction's values is small beside what they are computed from, or beside what memory
 * moves while they are computed. */
static bool is_worth_storing(const struct le_device_kernel_job *job, const struct le_stage *maker) {
    const struct le_kernel *k = &job->kernel;
    double stored = le_cost_target_bytes(job, maker, -1);
    double seconds = (double)le_work_of(k->ir, k->space, maker, (struct le_node *const *)&maker->node, 1).additions /
                     job->facts->operations_per_second;
    return STORED_SHARE * stored <= le_cost_bytes(job, &maker->node, 1, -1) ||
           (stored <= STORED_MOST && STORED_SHARE * stored <= seconds * job->facts->bytes_per_second);
}

struct le_node *le_device_make_there(const struct le_device_kernel_job *job, const struct le_stage *maker) {
    struct codegen c;
    struct team_stage t;
    struct le_stage made = *job->kernel.stage;
    struct le_device_kernel_job own = *job;
    own.kernel = le_kernel_begin(&job->kernel);
    le_codegen_begin(&c, &own, &made, "");
    const bool few = le_team_is_few(&c, maker->node), is_number = maker->left_count == 0; /* each element needs it */
    if (!can_be_made_there(&c, maker) || is_number || c.ir->values.at[maker->target].uses != 1 ||
        (!few && !maker->inner))
        return NULL;
    made.node = le_node_replace(c.ir, made.node, make_there, (void *)(uintptr_t)maker);
    if (le_device_reads(c.ir, &made, maker))
        return NULL;
    const bool spreads = few && made.kind == LE_STAGE_MAP && le_team_spread(&c, &made, &t) && le_team_takes(&t);
    return spreads || (maker->inner && !is_worth_storing(&own, maker)) ? made.node : NULL;
}
