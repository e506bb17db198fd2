/* Costs and engines of the virtual clock. One engine copies to the device, one to the host. The compute engine has a
 * lane for each multiprocessor; a kernel occupies as many lanes as it has blocks. Work that is ready may use the time
 * of an engine before work that still waits. Nothing here waits or runs operations. Guarded by the state's lock.
 *
 * Measured on an H200 with driver 580 (CUDA 13.0), 2026-11: enqueueing a launch, a launch with a wait, the copy rates,
 * the depth of the queue, pinning. The other values are estimates of the same order, marked as such. */
#include "base/memory.h"
#include "sim/driver/sim_state.h"
#include <string.h>

enum {
    LAUNCH_NS = 2750,       /* measured: enqueueing a launch */
    GRAPH_LAUNCH_NS = 1300, /* measured: a graph of one kernel; 0.47 of a launch */
    SYNCHRONIZE_NS = 2950,  /* measured: launch, a kernel of 2,000 ns and a wait take 7.7 us */
    COPY_CALL_NS = 2750,    /* estimate: the same as a launch */
    EVENT_NS = 1000,        /* estimate */
    QUERY_NS = 1000,        /* estimate */
    CREATE_NS = 5000,       /* estimate: a stream, an event */
    ALLOCATE_NS = 100000,   /* estimate: allocating or freeing device memory */
    MODULE_NS = 100000,     /* measured: loading a module that NVRTC compiled */
    CONTEXT_NS = 345000000, /* measured: cuInit and the first context */
    KERNEL_LEAST_NS = 2000, /* the time of the shortest kernels */
    THREADS_NS = 1000,      /* estimate: a multiprocessor full of threads */
    COPY_LATENCY_NS = 1500  /* estimate: the shortest copies */
};
/* bytes per 1,000 ns */
enum {
    PINNED_RATE = 55000,        /* measured, both ways */
    PAGEABLE_UP_RATE = 9000,    /* measured: 8 to 10 GB/s */
    PAGEABLE_DOWN_RATE = 17000, /* measured: 16 to 18 GB/s */
    DEVICE_RATE = 4290000,      /* measured: reading and writing together */
    PIN_RATE = 3500             /* measured: 64 MiB in 19 ms */
};

uint64_t le_sim_call_ns(enum sim_call call) {
    static const uint64_t costs_ns[] = {[SIM_CALL_FREE] = 0,
                                        [SIM_CALL_QUERY] = QUERY_NS,
                                        [SIM_CALL_LAUNCH] = LAUNCH_NS,
                                        [SIM_CALL_GRAPH_LAUNCH] = GRAPH_LAUNCH_NS,
                                        [SIM_CALL_COPY] = COPY_CALL_NS,
                                        [SIM_CALL_EVENT] = EVENT_NS,
                                        [SIM_CALL_SYNCHRONIZE] = SYNCHRONIZE_NS,
                                        [SIM_CALL_CREATE] = CREATE_NS,
                                        [SIM_CALL_ALLOCATE] = ALLOCATE_NS,
                                        [SIM_CALL_MODULE] = MODULE_NS,
                                        [SIM_CALL_CONTEXT] = CONTEXT_NS};
    return costs_ns[call];
}

static uint64_t time_at_rate(size_t size_bytes, uint64_t rate) {
    return size_bytes / rate * 1000 + size_bytes % rate * 1000 / rate;
}

uint64_t le_sim_pin_ns(size_t size_bytes) {
    return time_at_rate(size_bytes, PIN_RATE);
}

uint64_t le_sim_stage_ns(size_t size_bytes) {
    return time_at_rate(size_bytes, PAGEABLE_UP_RATE) - time_at_rate(size_bytes, PINNED_RATE);
}

uint64_t le_sim_copy_down_pageable_ns(size_t size_bytes) {
    return COPY_LATENCY_NS + time_at_rate(size_bytes, PAGEABLE_DOWN_RATE);
}

uint64_t le_sim_copy_ns(enum sim_engine engine, size_t size_bytes) {
    if (engine == SIM_ENGINE_COMPUTE)
        return KERNEL_LEAST_NS + time_at_rate(size_bytes, DEVICE_RATE / 2);
    return COPY_LATENCY_NS + time_at_rate(size_bytes, PINNED_RATE);
}

uint64_t le_sim_fill_ns(size_t size_bytes) {
    return KERNEL_LEAST_NS + time_at_rate(size_bytes, DEVICE_RATE);
}

uint64_t le_sim_kernel_ns(uint64_t blocks, uint64_t threads) {
    uint64_t lanes = blocks < SIM_LANES ? blocks : SIM_LANES;
    return KERNEL_LEAST_NS + threads * THREADS_NS / (lanes * SIM_MULTIPROCESSOR_THREADS);
}

/* Drops spans in the past, so that lanes stay short. */
static void lane_forget(struct sim_lane *lane, uint64_t now_ns) {
    int over = 0;
    while (over < lane->count && lane->at[over].end_ns <= now_ns)
        over++;
    if (over) {
        lane->count -= over;
        memmove(lane->at, lane->at + over, (size_t)lane->count * sizeof *lane->at);
    }
}

/* The first time, from start_ns on, at which the lane is free for duration_ns. */
static uint64_t lane_fit(const struct sim_lane *lane, uint64_t start_ns, uint64_t duration_ns) {
    for (int k = 0; k < lane->count; k++)
        if (lane->at[k].end_ns > start_ns && lane->at[k].start_ns < start_ns + duration_ns)
            start_ns = lane->at[k].end_ns;
    return start_ns;
}

static bool lane_reserve(struct sim_lane *lane) {
    if (lane->count < lane->capacity)
        return true;
    int capacity = lane->capacity ? 2 * lane->capacity : 16;
    struct sim_span *at = le_realloc(lane->at, (size_t)capacity * sizeof *at);
    if (!at)
        return false;
    lane->at = at;
    lane->capacity = capacity;
    return true;
}

/* Inserts a span, and joins it with adjacent ones. The lane has room for one more span, and the time is free. */
static void lane_put(struct sim_lane *lane, uint64_t start_ns, uint64_t end_ns) {
    int k = 0;
    while (k < lane->count && lane->at[k].end_ns < start_ns)
        k++;
    bool before = k < lane->count && lane->at[k].end_ns == start_ns;
    int next = before ? k + 1 : k;
    bool after = next < lane->count && lane->at[next].start_ns == end_ns;
    if (before && after) {
        lane->at[k].end_ns = lane->at[next].end_ns;
        lane->count--;
        memmove(lane->at + next, lane->at + next + 1, (size_t)(lane->count - next) * sizeof *lane->at);
    } else if (before) {
        lane->at[k].end_ns = end_ns;
    } else if (after) {
        lane->at[next].start_ns = start_ns;
    } else {
        memmove(lane->at + k + 1, lane->at + k, (size_t)(lane->count - k) * sizeof *lane->at);
        lane->at[k] = (struct sim_span){start_ns, end_ns};
        lane->count++;
    }
}

/* Finds the lanes that are free at start_ns for duration_ns; returns how many. */
static int lanes_free(struct sim_engines *engines, uint64_t start_ns, uint64_t duration_ns, struct sim_lane **lanes) {
    int count = 0;
    for (int k = 0; k < SIM_LANES; k++)
        if (lane_fit(&engines->compute[k], start_ns, duration_ns) == start_ns)
            lanes[count++] = &engines->compute[k];
    return count;
}

/* The next time at which a span ends. Work can only start when it is ready or when other work ends. */
static uint64_t next_end(const struct sim_engines *engines, uint64_t after_ns) {
    uint64_t next_ns = UINT64_MAX;
    for (int k = 0; k < SIM_LANES; k++)
        for (int i = 0; i < engines->compute[k].count; i++)
            if (engines->compute[k].at[i].end_ns > after_ns && engines->compute[k].at[i].end_ns < next_ns)
                next_ns = engines->compute[k].at[i].end_ns;
    return next_ns;
}

static bool compute_take(struct sim_engines *engines, const struct sim_op *op, uint64_t ready_ns, uint64_t *start_ns) {
    struct sim_lane *lanes[SIM_LANES];
    while (lanes_free(engines, ready_ns, op->duration_ns, lanes) < op->lanes)
        ready_ns = next_end(engines, ready_ns);
    for (int k = 0; k < op->lanes; k++)
        if (!lane_reserve(lanes[k]))
            return false;
    for (int k = 0; k < op->lanes; k++)
        lane_put(lanes[k], ready_ns, ready_ns + op->duration_ns);
    *start_ns = ready_ns;
    return true;
}

bool le_sim_engines_take(struct sim_engines *engines, const struct sim_op *op, uint64_t ready_ns, uint64_t *start_ns) {
    uint64_t now_ns = le_sim_state()->clock_ns;
    *start_ns = ready_ns;
    if (op->engine == SIM_ENGINE_NONE || !op->duration_ns)
        return true;
    if (op->engine == SIM_ENGINE_COMPUTE) {
        for (int k = 0; k < SIM_LANES; k++)
            lane_forget(&engines->compute[k], now_ns);
        return compute_take(engines, op, ready_ns, start_ns);
    }
    struct sim_lane *lane = op->engine == SIM_ENGINE_UP ? &engines->up : &engines->down;
    lane_forget(lane, now_ns);
    if (!lane_reserve(lane))
        return false;
    *start_ns = lane_fit(lane, ready_ns, op->duration_ns);
    lane_put(lane, *start_ns, *start_ns + op->duration_ns);
    return true;
}

void le_sim_engines_finish(struct sim_engines *engines) {
    le_free(engines->up.at);
    le_free(engines->down.at);
    for (int k = 0; k < SIM_LANES; k++)
        le_free(engines->compute[k].at);
    *engines = (struct sim_engines){0};
}
