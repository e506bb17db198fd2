/* The interface between compiled modules and the executor: the table that a module exports, and the services that it
 * calls. A C11 compiler reads this file here, and the C++ compiler of modules reads it as text embedded in the library.
 * It therefore includes nothing and is valid in both languages. Any change here needs a new SIM_ABI. */
#ifndef LE_SIM_ABI_H
#define LE_SIM_ABI_H

enum { SIM_ABI = 4, SIM_DYNAMIC_BYTES = 232448 /* 227 KiB: the most that a block may use */ };

struct sim_dim {
    unsigned x, y, z;
};

/* The running CUDA thread: threadIdx and so on. The executor sets the module's pointer to it at each switch. */
struct sim_self {
    struct sim_dim thread, block, block_dim, grid_dim, cluster_dim; /* cluster_dim: in blocks */
    unsigned lane, warp;                                            /* within the block */
    unsigned budget;  /* operations left before the thread lets others run */
    unsigned changed; /* one of these operations has changed memory */
    unsigned long long stack_low, stack_size;
};

enum sim_collective { /* operations of the lanes of a mask */
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
                      SIM_REDUCE_MIN, /* unsigned */
                      SIM_REDUCE_MAX,
                      SIM_REDUCE_MIN_SIGNED,
                      SIM_REDUCE_MAX_SIGNED,
                      SIM_REDUCE_AND,
                      SIM_REDUCE_OR,
                      SIM_REDUCE_XOR,
                      SIM_ACTIVE /* __activemask: the lanes that are at this call together; has no mask */
};
enum sim_barrier_kind { SIM_BARRIER, SIM_BARRIER_COUNT, SIM_BARRIER_AND, SIM_BARRIER_OR, SIM_BARRIER_GRID };
enum sim_cluster_barrier { SIM_CLUSTER_ARRIVE, SIM_CLUSTER_WAIT };
enum sim_stop { SIM_STOP_TRAP = 1, SIM_STOP_ASSERT };

struct sim_services {
    unsigned (*barrier)(int kind, unsigned predicate, const char *file, int line);
    unsigned long long (*collective)(int kind, unsigned mask, unsigned long long value, unsigned argument,
                                     const char *file, int line);
    void (*cluster)(int kind, const char *file, int line); /* the cluster's barrier */
    /* the address of the same variable in the shared memory of the cluster's block of that rank */
    void *(*map_shared)(const void *address, unsigned rank, const char *file, int line);
    void (*pause)(void);      /* the thread waits for others: lets them run */
    void (*fence)(int scope); /* enum sim_fence */
    void (*stop)(int kind);   /* ends the grid; does not return */
    int (*print)(const char *format, __builtin_va_list arguments);
    unsigned long long (*clock)(void); /* nanoseconds */
    /* used by instrumented modules; flags: see sim_check.h */
    void (*access)(const void *address, unsigned long size_bytes, unsigned flags, const void *pc);
    void (*subscript)(const char *file, unsigned line, long long index, const char *type);
};

/* One parameter. kind is a letter as in PTX: 'p' pointer (u64), 'u' unsigned or 's' signed integer, 'f' float, 'b'
 * bytes. pointee is the kind of the numbers that a pointer points to, else 0. */
struct sim_parameter {
    unsigned offset, size_bytes, alignment;
    char kind, pointee;
    unsigned char pointee_bytes;
};
struct sim_item {
    const char *name;
    void (*call)(void **arguments); /* calls the kernel; NULL: the item is a variable */
    const struct sim_parameter *parameters;
    unsigned parameter_count;
    unsigned max_threads; /* per block */
    unsigned cluster[3];  /* in blocks; 0: no __cluster_dims__ */
    void *address;        /* of the variable */
    unsigned long size_bytes;
    int constant; /* __constant__ */
};
struct sim_table { /* exported as leat_sim_table */
    unsigned abi, checking;
    const struct sim_item *items;
    unsigned item_count;
    const struct sim_services **services; /* the executor sets these two */
    struct sim_self **self;
    void *(*dynamic)(void); /* the address of this thread's dynamic shared memory */
};
#endif
