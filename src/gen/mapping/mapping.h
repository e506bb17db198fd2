/* Mappings: how a stage is computed on a device. A mapping has a name and *settings* (numbers with names, such as the
 * threads of a block), from which one function makes the stage's kernels. Several mappings may fit a stage. The cost
 * model predicts the time of each from facts of the stage and rates of the device, and the fastest is chosen. The
 * choice depends on extents, layouts and the device alone, and never changes a result's bits.
 *
 * LEAT_MAPPING forces one, for experiments and tests: "NAME SETTING=NUMBER ...". Several may follow, separated by
 * semicolons. A stage takes the first of them that fits it; a setting that is out of its limits keeps its value. */
#ifndef LE_MAPPING_H
#define LE_MAPPING_H
#include "gen/device_code.h"

enum { LE_SETTINGS_MAX = 8, LE_MAPPINGS_MAX = 12 };
struct le_setting {
    const char *name;
    int64_t value;
};
struct le_mapping {
    const char *name;
    struct le_setting settings[LE_SETTINGS_MAX];
    int count;
    double seconds; /* predicted */
    /* Makes the kernels. found: what was found out about the stage when the mapping was proposed. */
    leat_status (*make)(const struct le_mapping *mapping, void *found, struct le_generated_launches *out);
    void *found;
    const char *forced; /* its settings in LEAT_MAPPING; NULL */
};

/* The mappings that fit one stage, while they are collected. */
struct le_mapping_search {
    const struct le_device_kernel_job *job;
    const struct le_stage *stage;
    struct le_mapping at[LE_MAPPINGS_MAX];
    int count;
};
/* A mapping that fits; its cost and settings are to be filled in. */
struct le_mapping *le_mapping_add(struct le_mapping_search *search, const char *name,
                                  leat_status (*make)(const struct le_mapping *mapping, void *found,
                                                      struct le_generated_launches *out),
                                  void *found);
/* Adds a setting: the forced value, if there is one from least to most, else `chosen`. Gives the value. powers: only
 * powers of two are taken */
int64_t le_mapping_set(struct le_mapping *mapping, const char *name, int64_t chosen, int64_t least, int64_t most,
                       bool powers);
int64_t le_mapping_get(const struct le_mapping *mapping, const char *name); /* a setting that it has */
/* Makes the kernels by the best of the search's mappings, of which there is one at least. */
leat_status le_mapping_make(struct le_mapping_search *search, struct le_generated_launches *out);

/* loop.c: the mapping that fits every stage */
void le_propose_loop(struct le_mapping_search *search);

/* ---- cost.c: the cost model */

/* What the kernels of a mapping do. A *team* is the threads that work for one point. */
struct le_cost {
    double bytes;           /* that move between memory and the multiprocessors, in whole sectors */
    double operations;      /* additions, or what takes as long */
    double requests;        /* of a warp for a line of memory; a load takes one for each line that its threads read */
    double threads;         /* of all teams; the device has room for some of them at once */
    double bytes_in_flight; /* that a thread asks for before it waits */
    double team_seconds;    /* that a team takes at least, from its first read to its last write */
    double tail_seconds;    /* of what comes after all teams */
    int launches;
};
double le_cost_seconds(const struct le_device_facts *facts, const struct le_cost *cost);
/* Bytes that the loads in the nodes move over all points of the indices that they depend on, if the threads of a warp
 * have neighbouring values of the index (-1: the same). A sector has 32 bytes. */
double le_cost_bytes(const struct le_device_kernel_job *job, struct le_node *const *nodes, int count, int index);
/* The same of what lies outside of the node's reductions. */
double le_cost_bytes_outside(const struct le_device_kernel_job *job, struct le_node *node, int index);
/* Requests of a warp for a load of the nodes, all together: from 1 (all its threads read one line) to 32. */
double le_cost_requests(const struct le_device_kernel_job *job, struct le_node *const *nodes, int count, int index);
/* Values of an index; a guess where they are found as the kernel runs. */
double le_cost_extent(const struct le_device_kernel_job *job, int index);
/* Bytes that the stage's target moves. */
double le_cost_target_bytes(const struct le_device_kernel_job *job, const struct le_stage *stage, int index);
#endif
