/* What compiled modules and the executor share: the table that a module shows, and the services that it calls. It is
 * read by a C11 compiler here and, embedded in the library as text, by the C++ compiler that makes the modules, so it
 * includes nothing and uses what both know. A change of anything here is a new SIM_ABI. */
#ifndef LE_SIM_ABI_H
#define LE_SIM_ABI_H

enum { SIM_ABI = 3, SIM_DYNAMIC_BYTES = 232448 /* 227 KiB: what a block may ask for */ };

struct sim_dim {
    unsigned x, y, z;
};

/* The CUDA thread that runs: threadIdx and the like. The module's pointer is set at each switch. */
struct sim_self {
    struct sim_dim thread, block, block_dim, grid_dim, cluster_dim; /* cluster_dim: in blocks */
    unsigned lane, warp;                                            /* in the block */
    unsigned budget;  /* atomic operations left before the thread lets others run */
    unsigned changed; /* one of them has changed memory */
    unsigned long long stack_low, stack_size;
};

enum sim_collective { /* what the lanes of a mask do together */
                      SIM_SYNCWARP,
                      SIM_SHUFFLE,      /* argument: source lane within the width | width << 8 */
                      SIM_SHUFFLE_UP,   /* argument: delta | width << 8 */
                      SIM_SHUFFLE_DOWN, /* likewise */
                      SIM_SHUFFLE_XOR,  /* argument: lane mask | width << 8 */
                      SIM_BALLOT,
                      SIM_ALL,
                      SIM_ANY,
                      SIM_MATCH_ANY,
                      SIM_MATCH_ALL,
                      SIM_REDUCE_ADD,
                      SIM_REDUCE_MIN, /* of unsigned */
                      SIM_REDUCE_MAX,
                      SIM_REDUCE_MIN_SIGNED,
                      SIM_REDUCE_MAX_SIGNED,
                      SIM_REDUCE_AND,
                      SIM_REDUCE_OR,
                      SIM_REDUCE_XOR,
                      SIM_ACTIVE /* __activemask: the lanes that are here together; no mask */
};
enum sim_barrier_kind { SIM_BARRIER, SIM_BARRIER_COUNT, SIM_BARRIER_AND, SIM_BARRIER_OR, SIM_BARRIER_GRID };
enum sim_cluster_barrier { SIM_CLUSTER_ARRIVE, SIM_CLUSTER_WAIT };
enum sim_stop { SIM_STOP_TRAP = 1, SIM_STOP_ASSERT };

struct sim_services {
    unsigned (*barrier)(int kind, unsigned predicate, const char *file, int line);
    unsigned long long (*collective)(int kind, unsigned mask, unsigned long long value, unsigned argument,
                                     const char *file, int line);
    void (*cluster)(int kind, const char *file, int line); /* its barrier */
    /* the same place of the shared memory of the cluster's block of that rank */
    void *(*map_shared)(const void *address, unsigned rank, const char *file, int line);
    void (*pause)(void);      /* the thread waits for others: let them run */
    void (*fence)(int scope); /* enum sim_fence */
    void (*stop)(int kind);   /* of the grid; does not return */
    int (*print)(const char *format, __builtin_va_list arguments);
    unsigned long long (*clock)(void); /* nanoseconds */
    /* checking modules: flags of sim_check.h */
    void (*access)(const void *address, unsigned long size_bytes, unsigned flags, const void *pc);
    void (*subscript)(const char *file, unsigned line, long long index, const char *type);
};

/* One parameter: kind as PTX writes it: 'p' pointer (u64), 'u' unsigned or 's' signed integer, 'f' float, 'b' bytes.
 * pointee: of a pointer to numbers, their kind, else 0. */
struct sim_parameter {
    unsigned offset, size_bytes, alignment;
    char kind, pointee;
    unsigned char pointee_bytes;
};
struct sim_item {
    const char *name;
    void (*call)(void **arguments); /* of a kernel; NULL: a variable */
    const struct sim_parameter *parameters;
    unsigned parameter_count;
    unsigned max_threads; /* of a block */
    unsigned cluster[3];  /* blocks; 0: it says nothing of clusters */
    void *address;        /* of a variable */
    unsigned long size_bytes;
    int constant; /* __constant__ */
};
struct sim_table { /* the module's symbol leat_sim_table */
    unsigned abi, checking;
    const struct sim_item *items;
    unsigned item_count;
    const struct sim_services **services; /* the executor fills these two */
    struct sim_self **self;
    void *(*dynamic)(void); /* where this thread's dynamic shared memory is */
};
#endif
