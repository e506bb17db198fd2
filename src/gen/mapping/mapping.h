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

enum le_mapping_kind {
#define LE_MAPPING(kind, name, settings) LE_MAPPING_##kind,
#include "gen/mapping/mapping.def"
#undef LE_MAPPING
    LE_MAPPING_KINDS
};

enum { LE_SETTINGS_MAX = 8, LE_MAPPINGS_MAX = 16 };
struct le_setting {
    const char *name;
    int64_t value;
};
struct le_mapping {
    enum le_mapping_kind kind;
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
    /* Chosen whatever is predicted, unless another is forced. Set for kinds of stages whose costs have not been
     * compared with measured times. NULL: the fastest is chosen. */
    const struct le_mapping *preferred;
};
/* A mapping that fits; its cost and settings are to be filled in. */
struct le_mapping *le_mapping_add(struct le_mapping_search *search, enum le_mapping_kind kind,
                                  leat_status (*make)(const struct le_mapping *mapping, void *found,
                                                      struct le_generated_launches *out),
                                  void *found);
/* Adds a setting: the forced value, if there is one from least to most, else `chosen`. Gives the value. powers: only
 * powers of two are taken */
int64_t le_mapping_set(struct le_mapping *mapping, const char *name, int64_t chosen, int64_t least, int64_t most,
                       bool powers);
int64_t le_mapping_get(const struct le_mapping *mapping, const char *name); /* a setting that it has */
/* The one that LEAT_MAPPING names first, or else the preferred or the fastest one. The search has at least one. */
const struct le_mapping *le_mapping_choose(const struct le_mapping_search *search);
/* generate_device.c: the one of a stage of kind MAP, which the job's kernel need not be of; it makes no kernels. */
const struct le_mapping *le_mapping_of_map(const struct le_device_kernel_job *job, const struct le_stage *stage);
/* Makes the kernels with the best mapping of the search, which has at least one. */
leat_status le_mapping_make(struct le_mapping_search *search, struct le_generated_launches *out);

/* forced_mapping.c: the names, and LEAT_MAPPING (text; NULL: not set) */
const char *le_mapping_name(enum le_mapping_kind kind);
bool le_mapping_has_setting(enum le_mapping_kind kind, const char *name);
/* The settings that the text gives to mappings of that kind; NULL: it does not name them. */
const char *le_mapping_forced(const char *text, enum le_mapping_kind kind);
bool le_mapping_forced_number(const char *settings, const char *name, int64_t *value); /* settings may be NULL */

/* Proposals: each adds the mappings that fit. */
void le_propose_loop(struct le_mapping_search *search); /* loop.c: fits every map and reduction */
void le_propose_maps(struct le_mapping_search *search);
void le_propose_reductions(struct le_mapping_search *search);
void le_propose_reuse(struct le_mapping_search *search);    /* reuse.c */
void le_propose_elements(struct le_mapping_search *search); /* generate_device.c: the four above */
void le_propose_scatters(struct le_mapping_search *search); /* scatter.c */
void le_propose_each(struct le_mapping_search *search);
void le_propose_fill(struct le_mapping_search *search);
/* scans.c: a scan consists of up to two stages, for which it proposes mappings. */
leat_status le_scan_generate(const struct le_device_kernel_job *job, const struct le_stage *stage,
                             struct le_generated_launches *out);

/* ---- cost.c: the cost model */

/* What the kernels of a mapping do. A *team* is the threads that work for one point. */
struct le_cost {
    double bytes;           /* that move between memory and the multiprocessors, in whole sectors */
    double operations;      /* additions, or what takes as long */
    double requests;        /* of a warp for a line of memory; a load takes one for each line that its threads read */
    double threads;         /* of all teams; the device has room for some of them at once */
    double blocks;          /* of threads, that take as long as each other; 0: it does not matter how many */
    double bytes_in_flight; /* that a thread asks for before it waits; 0: it reads nothing */
    double team_seconds;    /* that a team takes at least, from its first read to its last write */
    double tail_seconds;    /* of what comes after all teams */
    int launches;
};
/* Measured as the constants in cost.c. */
#define LE_TERM_SECONDS  0.3e-6  /* of a term whose read is waited for before the next one starts */
#define LE_READ_SECONDS  0.7e-6  /* of a round of reads, until their terms are joined */
#define LE_CACHE_SECONDS 0.35e-6 /* the same of reads that caches serve */
#define LE_WARP_SECONDS  0.45e-6 /* in which a warp joins its threads' totals */
#define LE_BLOCK_SECONDS 2e-6    /* the same of a thread block, through shared memory */
/* A thread that reads along a row of its own fetches whole sectors, and the caches keep part of them until it comes to
 * their other elements. At most this many times the elements' bytes move if it waits for each read, and if it has
 * several reads in flight. */
#define LE_WASTE_ONE_READ      5
#define LE_WASTE_SEVERAL_READS 2.5

double le_cost_seconds(const struct le_device_facts *facts, const struct le_cost *cost);
/* Bytes that the loads in the nodes move over all points of the indices that they depend on, if the threads of a warp
 * have neighbouring values of the index (-1: the same). A sector has 32 bytes. */
double le_cost_bytes(const struct le_device_kernel_job *job, struct le_node *const *nodes, int count, int index);
/* The same of what lies outside of the node's reductions. */
double le_cost_bytes_outside(const struct le_device_kernel_job *job, struct le_node *node, int index);
/* Requests of a warp for the loads of the nodes, all together: for each from 1 (all its threads read one line) to 32.
 * along: only of those that depend on one of these indices; NULL: of all */
double le_cost_requests(const struct le_device_kernel_job *job, struct le_node *const *nodes, int count, int index,
                        const int *along, int along_count);
/* Values of an index; a guess where they are found as the kernel runs. */
double le_cost_extent(const struct le_device_kernel_job *job, int index);
/* About how many terms a reduction has for each point: if data give its bounds, its rows are taken to have all elements
 * of the axis along which their terms lie. */
double le_cost_terms(const struct le_device_kernel_job *job, const struct le_node *node);
double le_cost_points(const struct le_device_kernel_job *job, const struct le_stage *stage); /* points of the stage */
/* Bytes that the stage's target moves. */
double le_cost_target_bytes(const struct le_device_kernel_job *job, const struct le_stage *stage, int index);
/* The cost of a kernel whose `threads` threads share the stage's points, without the bytes that it writes. Each thread
 * computes its points one after the other. */
struct le_cost le_cost_of_points(const struct le_device_kernel_job *job, const struct le_stage *stage, double threads);
struct le_cost le_cost_twice(struct le_cost cost); /* of two such kernels, one after the other */
#endif
