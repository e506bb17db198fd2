/* The last lines of the account: what bounds the run, and what would make it faster. See account.h. */
#include "account/account.h"
#include <string.h>

/* Kernels that reach MEMORY_SHARE of the copy rate are limited by memory. If kernels take less than KERNEL_SHARE of the
 * time, overhead dominates. */
static const double MEMORY_SHARE = 0.5, KERNEL_SHARE = 0.5;
/* If kernels take less than LAUNCH_NS each, and memory and arithmetic explain less than LAUNCH_SHARE of their time,
 * launching dominates. */
static const double LAUNCH_SHARE = 0.1, LAUNCH_NS = 20000;
/* Below this share of the copy rate, rates of memory say nothing. */
static const double LEAST_MEMORY_SHARE = 0.0005;
/* Kernels that compute less than this share of the additions are not called compute-bound. */
static const double ARITHMETIC_SHARE = 0.01;

struct totals {
    uint64_t by_kind_ns[LEAT_COST_KINDS];
    uint64_t bytes, operations, kernels; /* of kernels */
    const leat_cost *read;               /* the largest cost of kind read; NULL: none */
};
/* The time that kernels would take at the measured rates, divided by the time they took. Above 1 if they were faster
 * than these rates (caches, narrow types, matrix products by a BLAS). 0: not known. */
struct shares {
    double memory, arithmetic;
};

/* What helps if this cost is the largest. Completes "Would help: ". The command's users have other means than callers
 * of the library. */
static const struct advice {
    const char *library, *command; /* command NULL: the same */
} ADVICE[LEAT_COST_KINDS] = {
    [LEAT_COST_INIT] = {"a long-lived process, which starts once",
                        "a long-lived process (with the C library), which starts once"},
    [LEAT_COST_LIBRARY] = {"a long-lived process, which loads libraries once",
                           "a long-lived process (with the C library), which loads libraries once"},
    [LEAT_COST_CHECK] = {"keeping the program, which is then checked once for many calls",
                         "the C library, which checks a program once for many calls"},
    [LEAT_COST_COMPILE] =
        {"calling a prepared program again: it is compiled once per combination of types",
         "calling a prepared program again: it is compiled once per combination of types (--repeat shows it)"},
    [LEAT_COST_IN_MEMORY] = {"larger kernels", NULL},
    [LEAT_COST_ON_DISK] = {"a long-lived process, which keeps compiled code loaded",
                           "a long-lived process (with the C library), which keeps compiled code loaded"},
    [LEAT_COST_INTERPRET] = {"compiled code instead of the interpreter (LEAT_INTERPRET=never)", NULL},
    [LEAT_COST_MODULE] = {"keeping the module, which is then loaded once",
                          "keeping the module, which is then loaded once (--repeat shows it)"},
    [LEAT_COST_PLAN] =
        {"repeating the call: it keeps its plan, and after 32 launches the launches as well",
         "repeating the call: it keeps its plan, and after 32 launches the launches as well (--repeat shows it)"},
    [LEAT_COST_ALLOCATE] = {"writing results into existing arrays, which need no new pages",
                            "writing results into existing arrays, which need no new pages (leat_call_want)"},
    [LEAT_COST_PIN] = {"keeping memory page-locked: pinning costs more than one copy saves", NULL},
    [LEAT_COST_LAUNCH] = {"fewer, larger kernels", NULL},
    [LEAT_COST_UPLOAD] = {"keeping arrays on the device between launches", NULL},
    [LEAT_COST_DOWNLOAD] = {"fewer results, or results that stay on the device",
                            "fewer results (-o), or results that stay on the device"},
    [LEAT_COST_IDLE] = {"more work per call", NULL},
    [LEAT_COST_UNLOAD] = {"a long-lived process, which keeps compiled code loaded",
                          "a long-lived process (with the C library), which keeps compiled code loaded"},
    [LEAT_COST_EVICT] = {"a larger limit for compiled code", NULL},
    [LEAT_COST_COPY] = {"arrays of the result's own type: such results are not copied", NULL},
    [LEAT_COST_WAIT] = {"more work per call", NULL},
    [LEAT_COST_WRITE] = {"fewer results, .npy files, or narrower types",
                         "fewer results (-o), .npy files, or narrower types"},
    [LEAT_COST_OTHER] = {"more work per call", NULL}};

/* On memory-bound kernels. */
static const struct advice REUSE = {
    "reusing memory (the first touch of new pages costs time), or reading arrays along their last axis.",
    "reusing memory (--repeat shows it: the first touch of new pages costs time), or reading arrays along their last "
    "axis."};

static const char *choose_advice(const struct le_account *account, struct advice advice) {
    return account->for_command && advice.command ? advice.command : advice.library;
}

static struct totals add_up(const struct le_account *account) {
    struct totals totals = {0};
    for (size_t k = 0; k < account->count; k++) {
        const leat_cost *cost = &account->costs[k];
        if (cost->on_device || cost->in_background)
            continue;
        if (cost->kind < LEAT_COST_KINDS)
            totals.by_kind_ns[cost->kind] += cost->time_ns;
        if (cost->kind == LEAT_COST_READ && (!totals.read || cost->time_ns > totals.read->time_ns))
            totals.read = cost;
        if (cost->kind != LEAT_COST_KERNEL)
            continue;
        totals.bytes += cost->bytes;
        totals.operations += cost->operations;
        totals.kernels += cost->count;
    }
    return totals;
}

/* Kinds that repeating a call avoids. Advice on them is of no use to a caller who repeats it. */
static const bool IS_AVOIDED[LEAT_COST_KINDS] = {
    [LEAT_COST_INIT] = true,      [LEAT_COST_LIBRARY] = true, [LEAT_COST_CHECK] = true,  [LEAT_COST_COMPILE] = true,
    [LEAT_COST_IN_MEMORY] = true, [LEAT_COST_ON_DISK] = true, [LEAT_COST_MODULE] = true, [LEAT_COST_PLAN] = true};

static leat_cost_kind largest(const struct le_account *account, const struct totals *totals) {
    leat_cost_kind kind = account->is_repeated ? LEAT_COST_OTHER : LEAT_COST_INIT;
    for (int k = 0; k < LEAT_COST_KINDS; k++)
        if (k != LEAT_COST_KERNEL && !(account->is_repeated && IS_AVOIDED[k]) &&
            totals->by_kind_ns[k] > totals->by_kind_ns[kind])
            kind = (leat_cost_kind)k;
    return kind;
}

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), end = strlen(ending);
    return length >= end && strcmp(text + length - end, ending) == 0;
}

static struct advice advise_on_reading(const leat_cost *read) {
    static const struct advice
        MAPPED = {"narrower types, which are fewer bytes; a long-lived process, which maps the file once",
                  "narrower types, which are fewer bytes; a long-lived process (with the C library), which maps the "
                  "file once"},
        TABLE = {"an .npy, which needs no parsing and is mapped if it is large", NULL},
        READ = {"narrower types, which are fewer bytes", NULL},
        OTHER = {"an .npy file, which is mapped if it is large; .npz files and stdin are read", NULL};
    if (read && strcmp(read->cause, "mapped") == 0)
        return MAPPED;
    if (read && (ends_with(read->what, ".csv") || ends_with(read->what, ".tsv")))
        return TABLE;
    return read && ends_with(read->what, ".npy") ? READ : OTHER;
}

static struct advice advise(const struct totals *totals, leat_cost_kind kind) {
    return kind == LEAT_COST_READ ? advise_on_reading(totals->read) : ADVICE[kind];
}

static struct shares shares_of(const struct le_account *account, const struct totals *totals) {
    double time_s = (double)totals->by_kind_ns[LEAT_COST_KERNEL] * 1e-9;
    double copy = account->copy_bytes_per_second, add = account->additions_per_second;
    return (struct shares){.memory = time_s > 0 && copy > 0 ? (double)totals->bytes / copy / time_s : 0,
                           .arithmetic = time_s > 0 && add > 0 ? (double)totals->operations / add / time_s : 0};
}

/* Kernels exceed the copy rate with cached data. They exceed the rate of additions with narrow types and with
 * multiplications that are fused with additions. Shares above 100 % are not printed. */
static void say_share(double share, const char *what, double rate, const char *unit, struct le_text *text) {
    if (share <= 1)
        le_text_add(text, ", %.0f %% of %s here (%.3g %s)", 100 * share, what, rate * 1e-9, unit);
    else
        le_text_add(text, " (%s: %.3g %s here)", what, rate * 1e-9, unit);
}

/* Appends clauses about the kernels. `before` is the separator from the text so far. */
static void say_kernels(const struct le_account *account, const struct totals *totals, char before,
                        struct le_text *text) {
    double time_ns = (double)totals->by_kind_ns[LEAT_COST_KERNEL], limit = account->copy_bytes_per_second;
    struct shares shares = shares_of(account, totals);
    bool moves = totals->bytes && (shares.memory >= LEAST_MEMORY_SHARE || limit <= 0);
    if (!moves)
        le_text_add(text, "%c kernels have almost no memory traffic", before);
    else
        le_text_add(text, "%c %.2g operations per byte", before, (double)totals->operations / (double)totals->bytes);
    if (time_ns > 0 && moves)
        le_text_add(text, "; kernels move %.3g GB/s", (double)totals->bytes / time_ns);
    if (time_ns > 0 && moves && limit > 0)
        say_share(shares.memory, "a copy", limit, "GB/s", text);
    if (shares.arithmetic > 0 && totals->operations) {
        le_text_add(text, ", and compute %.3g G operations/s", (double)totals->operations / time_ns);
        say_share(shares.arithmetic, "additions", account->additions_per_second, "G/s", text);
    }
    le_text_add(text, ".");
}

/* ---- devices, by their own times */

struct device_part {
    const char *bound, *help;
    uint64_t time_ns;
};

static uint64_t device_ns(const struct le_account *account, leat_cost_kind kind) {
    uint64_t sum_ns = 0;
    for (size_t k = 0; k < account->count; k++)
        if (account->costs[k].on_device && account->costs[k].kind == kind)
            sum_ns += account->costs[k].time_ns;
    return sum_ns;
}

static void say_device(const struct le_account *account, struct le_text *text) {
    const struct device_part parts[] = {
        {"kernel-bound", "faster kernels: copies take less time than kernels", device_ns(account, LEAT_COST_KERNEL)},
        {"transfer-bound", "keeping arrays on the device; page-locked memory; copies in a separate stream",
         device_ns(account, LEAT_COST_UPLOAD) + device_ns(account, LEAT_COST_DOWNLOAD)},
        {"host-bound", "enqueueing work sooner: the idle rows name the causes of the gaps",
         account->device_sums.idle_ns}};
    const struct device_part *most = &parts[0];
    for (size_t k = 1; k < sizeof parts / sizeof *parts; k++)
        if (parts[k].time_ns > most->time_ns)
            most = &parts[k];
    le_text_add(
        text,
        "the device is %s: of %.3f ms, kernels took %.3f ms, copies to and from the host %.3f ms, gaps %.3f ms.\n",
        most->bound, (double)account->device_sums.span_ns * 1e-6, (double)parts[0].time_ns * 1e-6,
        (double)parts[1].time_ns * 1e-6, (double)parts[2].time_ns * 1e-6);
    le_text_add(text, "Would help: %s.", most->help);
}

/* Appends what bounds the kernels and what would help. */
static void say_bound(const struct le_account *account, const struct totals *totals, struct le_text *text) {
    struct shares shares = shares_of(account, totals);
    double each_ns = (double)totals->by_kind_ns[LEAT_COST_KERNEL] / (double)(totals->kernels ? totals->kernels : 1);
    bool by_memory = shares.memory > shares.arithmetic;
    bool explained = shares.memory >= LAUNCH_SHARE || shares.arithmetic >= LAUNCH_SHARE;
    bool by_launch = !explained && each_ns < LAUNCH_NS;
    bool unexplained = shares.memory < ARITHMETIC_SHARE && shares.arithmetic < ARITHMETIC_SHARE;
    le_text_add(text, by_launch ? "launch-bound"
                      : unexplained
                          ? "bound by neither memory nor counted operations (iterations of loops are not counted)"
                      : by_memory ? "memory-bound"
                                  : "compute-bound");
    say_kernels(account, totals, ':', text);
    le_text_add(text, "\nWould help: ");
    if (by_launch)
        le_text_add(text, "fewer, larger kernels: %llu of them take %.2g us each.", (unsigned long long)totals->kernels,
                    each_ns * 1e-3);
    else if (by_memory && shares.memory >= MEMORY_SHARE)
        le_text_add(text, "fewer bytes: narrower types, or more work in one program, so that arrays are read once.");
    else if (by_memory && !unexplained)
        le_text_add(text, "%s", choose_advice(account, REUSE));
    else if (account->threads < account->cores)
        le_text_add(text, "more threads (%d of %d cores in use), narrower types, cheaper functions.", account->threads,
                    account->cores);
    else
        le_text_add(text, "narrower types, cheaper functions.");
}

void le_account_verdict(const struct le_account *account, struct le_text *text) {
    struct totals totals = add_up(account);
    if (account->device_sums.span_ns) {
        say_device(account, text);
        return;
    }
    double kernel_ns = (double)totals.by_kind_ns[LEAT_COST_KERNEL];
    double wall_ns = account->wall_ns ? (double)account->wall_ns : 1;
    if (kernel_ns >= KERNEL_SHARE * wall_ns) {
        say_bound(account, &totals, text);
        return;
    }
    leat_cost_kind kind = largest(account, &totals);
    uint64_t rest_ns = account->wall_ns > account->sum_ns ? account->wall_ns - account->sum_ns : 0;
    le_text_add(text, "overhead-bound: kernels take %.0f %% of the time", 100 * kernel_ns / wall_ns);
    if (account->is_repeated && rest_ns > totals.by_kind_ns[kind]) {
        kind = LEAT_COST_OTHER;
        le_text_add(text, ", the rest of the call %.0f %%", 100 * (double)rest_ns / wall_ns);
    } else if (totals.by_kind_ns[kind]) {
        le_text_add(text, ", %s %.0f %%", le_cost_kind_name(kind), 100 * (double)totals.by_kind_ns[kind] / wall_ns);
    }
    say_kernels(account, &totals, ';', text);
    le_text_add(text, "\nWould help: %s.", choose_advice(account, advise(&totals, kind)));
}
