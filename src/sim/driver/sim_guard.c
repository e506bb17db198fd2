/* Implements sim_guard.h: page protection, the SIGSEGV handler, and the accesses that it records.
 *
 * The handler may run at any time on any host thread. It reads the driver's allocations and the claims here under a
 * spin lock, and writes into an array of fixed size. No thread accesses memory that may be protected while it holds the
 * spin lock. */
#include "sim/driver/sim_guard.h"
#include "base/memory.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { ACCESSES_MAX = 64, UNCONFIRMED_MAX = 48, SEEN_BYTES = 16, SPIN_LIMIT = 10000000 };

/* Host memory that an operation writes or reads. A claim lasts until the host knows that the operation is complete. */
struct host_claim {
    uint64_t number;
    int slot;
    unsigned stream_id;
    bool write, kernel;
    enum sim_allocation_kind kind;
    uintptr_t address;
    size_t size_bytes;
    char what[64];
};
/* An access by the host that the handler caught. */
struct host_access {
    uintptr_t address;
    bool used, write, on_device, live;
    struct host_claim claim; /* number 0: the access is to device memory */
    bool confirmed;          /* must be reported; otherwise it depends on what the kernel writes */
    bool call_followed;      /* the host has made a call since, so it was not polling */
    unsigned char seen[SEEN_BYTES];
};
struct pooled_array {
    uintptr_t address;
    size_t size_bytes;
};

static struct sim_guard {
    atomic_flag spin;
    atomic_bool on;
    bool installed;
    struct sigaction former;
    uintptr_t base, end; /* the range of device addresses */
    size_t page_bytes;
    struct host_claim *claims;
    int claim_count, claim_capacity;
    struct host_access accesses[ACCESSES_MAX];
    struct pooled_array *arrays; /* live arrays in pooled memory */
    int array_count, array_capacity;
} guard = {.spin = ATOMIC_FLAG_INIT};

void le_sim_guard_lock(void) {
    while (atomic_flag_test_and_set_explicit(&guard.spin, memory_order_acquire))
        sched_yield();
}

void le_sim_guard_unlock(void) {
    atomic_flag_clear_explicit(&guard.spin, memory_order_release);
}

/* ---- pages */

/* Whether to protect all pages that a range touches, which sim owns. In registered memory, only the whole pages inside
 * it. */
static bool whole_pages(enum sim_allocation_kind kind) {
    return kind == SIM_ALLOCATION_PINNED;
}

static void protect_pages(uintptr_t address, size_t size_bytes, bool outward, int protection) {
    uintptr_t mask = guard.page_bytes - 1;
    uintptr_t start = outward ? address & ~mask : (address + mask) & ~mask;
    uintptr_t end = outward ? (address + size_bytes + mask) & ~mask : (address + size_bytes) & ~mask;
    if (start < end)
        mprotect((void *)start, end - start, protection);
}

/* Protects what claims require in [low, high): first those that forbid writes, then those that forbid all access. */
static void close_claimed(uintptr_t low, uintptr_t high) {
    for (int writes = 0; writes < 2; writes++)
        for (int k = 0; k < guard.claim_count; k++) {
            const struct host_claim *claim = &guard.claims[k];
            if (claim->write == writes && claim->address < high && claim->address + claim->size_bytes > low)
                protect_pages(claim->address, claim->size_bytes, whole_pages(claim->kind),
                              writes ? PROT_NONE : PROT_READ);
        }
}

/* Unprotects a range, except what the remaining claims protect. */
static void update_protection(uintptr_t address, size_t size_bytes, enum sim_allocation_kind kind) {
    uintptr_t mask = guard.page_bytes - 1, low = address & ~mask, high = (address + size_bytes + mask) & ~mask;
    protect_pages(address, size_bytes, whole_pages(kind), PROT_READ | PROT_WRITE);
    close_claimed(low, high);
}

static void device_protect(int protection) {
    const struct sim_memory *memory = &le_sim_state()->memory;
    if (memory->base && memory->next > memory->base)
        mprotect((void *)memory->base, memory->next - memory->base, protection);
}

/* ---- the handler */

static bool is_write(const void *machine_context) {
#if defined __x86_64__
    return ((const ucontext_t *)machine_context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
    (void)machine_context;
    return false;
#endif
}

/* The claim that the access violates; prefers the claim of a copy or fill to that of a kernel. */
static const struct host_claim *violated_claim(uintptr_t address, bool write) {
    const struct host_claim *found = NULL;
    for (int k = 0; k < guard.claim_count; k++) {
        const struct host_claim *claim = &guard.claims[k];
        bool inside = claim->address <= address && address - claim->address < claim->size_bytes;
        if (inside && (claim->write || write) && (!found || (found->kernel && !claim->kernel)))
            found = claim;
    }
    return found;
}

/* Unconfirmed accesses leave room for confirmed ones. */
static struct host_access *free_access(bool sure) {
    for (int k = 0; k < (sure ? ACCESSES_MAX : UNCONFIRMED_MAX); k++)
        if (!guard.accesses[k].used)
            return &guard.accesses[k];
    return NULL;
}

static const struct sim_allocation *allocation_at(uintptr_t address) {
    const struct sim_memory *memory = &le_sim_state()->memory;
    for (int k = 0; k < memory->count; k++)
        if (memory->at[k].address <= address && address - memory->at[k].address < memory->at[k].size_bytes)
            return &memory->at[k];
    return NULL;
}

static void record_device_access(uintptr_t address, bool write) {
    struct host_access *access = free_access(true);
    if (!access)
        return;
    *access =
        (struct host_access){.address = address, .used = true, .write = write, .on_device = true, .confirmed = true};
    access->live = allocation_at(address);
}

static void record_pinned_access(uintptr_t address, bool write) {
    const struct host_claim *claim = violated_claim(address, write);
    if (!claim || (claim->kernel && write)) /* it is unknown what the kernel reads */
        return;
    struct host_access *access = free_access(!claim->kernel);
    if (!access)
        return;
    *access = (struct host_access){
        .address = address, .used = true, .write = write, .claim = *claim, .confirmed = !claim->kernel};
    memcpy(access->seen, (const void *)(address & ~(uintptr_t)(SEEN_BYTES - 1)), SEEN_BYTES);
}

/* Whether a claim covers part of the page. */
static bool page_is_closed(uintptr_t page) {
    for (int k = 0; k < guard.claim_count; k++)
        if (guard.claims[k].address < page + guard.page_bytes &&
            guard.claims[k].address + guard.claims[k].size_bytes > page)
            return true;
    return false;
}

/* true: the fault was caused by our protection, which is lifted, so the access can be retried. */
static bool handle_fault(uintptr_t address, bool write) {
    uintptr_t page = address & ~(uintptr_t)(guard.page_bytes - 1);
    bool device = address >= guard.base && address < guard.end;
    if ((!device && !page_is_closed(page)) || mprotect((void *)page, guard.page_bytes, PROT_READ | PROT_WRITE))
        return false;
    if (device)
        record_device_access(address, write);
    else
        record_pinned_access(address, write);
    return true;
}

/* If the former handler calls this handler again, the fault gets the default action. */
static void call_former_handler(int signal_number, siginfo_t *info, void *machine_context) {
    static _Thread_local bool passing;
    struct sigaction unhandled = {.sa_handler = SIG_DFL}, *former = passing ? &unhandled : &guard.former;
    passing = true;
    if (former->sa_flags & SA_SIGINFO)
        former->sa_sigaction(signal_number, info, machine_context);
    else if (former->sa_handler != SIG_DFL && former->sa_handler != SIG_IGN)
        former->sa_handler(signal_number);
    else
        sigaction(signal_number, former, NULL); /* the access is retried and ends the process */
    passing = false;
}

static void handler(int signal_number, siginfo_t *info, void *machine_context) {
    bool taken = false;
    const struct sim_state *state = le_sim_state();
    bool of_worker = state->worker_started && pthread_equal(pthread_self(), state->worker);
    if (of_worker && state->running && state->running->kind == SIM_OP_KERNEL)
        return; /* called by the executor's own handler, which handles the fault */
    if (atomic_load(&guard.on) && !of_worker) {
        int spins = 0; /* in a child of fork, the lock may be held forever */
        while (atomic_flag_test_and_set_explicit(&guard.spin, memory_order_acquire) && spins < SPIN_LIMIT)
            spins++;
        taken = handle_fault((uintptr_t)info->si_addr, is_write(machine_context));
        le_sim_guard_unlock();
    }
    if (!taken)
        call_former_handler(signal_number, info, machine_context);
}

/* Makes ours the first handler, also before handlers that were installed after it. */
static bool install_handler(void) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER}, present;
    if (sigaction(SIGSEGV, NULL, &present))
        return false;
    if (present.sa_flags & SA_SIGINFO && present.sa_sigaction == handler)
        return true;
    sigemptyset(&action.sa_mask);
    guard.former = present;
    guard.installed = !sigaction(SIGSEGV, &action, NULL);
    return guard.installed;
}

bool le_sim_guard_start(void) {
    guard.page_bytes = le_sim_page_bytes();
    if (!install_handler())
        return false;
    atomic_store(&guard.on, true);
    return true;
}

/* If another handler was installed over ours, ours stays installed and passes everything on. */
static void uninstall_handler(void) {
    struct sigaction present;
    bool ours = !sigaction(SIGSEGV, NULL, &present) && present.sa_flags & SA_SIGINFO && present.sa_sigaction == handler;
    if (ours)
        sigaction(SIGSEGV, &guard.former, NULL);
    guard.installed = !ours;
}

void le_sim_guard_stop(void) {
    if (!atomic_load(&guard.on))
        return;
    le_sim_guard_report();
    le_sim_guard_lock();
    for (int k = 0; k < guard.claim_count; k++)
        protect_pages(guard.claims[k].address, guard.claims[k].size_bytes, whole_pages(guard.claims[k].kind),
                      PROT_READ | PROT_WRITE);
    le_free(guard.claims);
    le_free(guard.arrays);
    guard.claims = NULL;
    guard.arrays = NULL;
    guard.claim_count = guard.claim_capacity = guard.array_count = guard.array_capacity = 0;
    guard.base = guard.end = 0;
    memset(guard.accesses, 0, sizeof guard.accesses);
    device_protect(PROT_READ | PROT_WRITE);
    le_sim_guard_unlock();
    atomic_store(&guard.on, false);
    uninstall_handler();
}

/* ---- claims */

/* The slot for a claim: that of an earlier claim of the same stream and range, which the new one outlasts, or a new
 * slot. NULL: out of memory. */
static struct host_claim *claim_slot(const struct host_claim *claim) {
    for (int k = 0; k < guard.claim_count; k++) {
        struct host_claim *other = &guard.claims[k];
        if (other->slot == claim->slot && other->address == claim->address && other->size_bytes == claim->size_bytes &&
            other->write == claim->write && other->kernel == claim->kernel)
            return other;
    }
    if (guard.claim_count == guard.claim_capacity) {
        int capacity = guard.claim_capacity ? 2 * guard.claim_capacity : 32;
        struct host_claim *claims = le_realloc(guard.claims, (size_t)capacity * sizeof *claims);
        if (!claims)
            return NULL;
        guard.claims = claims;
        guard.claim_capacity = capacity;
    }
    return &guard.claims[guard.claim_count++];
}

static bool add_claim(const struct sim_stream *stream, const struct sim_op *op, struct host_claim range) {
    const struct sim_allocation *allocation = le_sim_memory_find(range.address, 1);
    if (!allocation || (allocation->kind != SIM_ALLOCATION_PINNED && allocation->kind != SIM_ALLOCATION_REGISTERED))
        return true;
    range.number = op->number;
    range.slot = stream->slot;
    range.stream_id = stream->id;
    range.kind = allocation->kind;
    install_handler();
    strncpy(range.what, le_sim_op_name(op), sizeof range.what - 1);
    le_sim_guard_lock();
    struct host_claim *slot = claim_slot(&range);
    if (slot) {
        *slot = range;
        update_protection(range.address, range.size_bytes, range.kind);
    }
    le_sim_guard_unlock();
    return slot;
}

static size_t copy_extent_bytes(const struct sim_copy *copy, size_t row_stride, size_t slice_stride) {
    return (copy->slices - 1) * slice_stride + (copy->rows - 1) * row_stride + copy->row_bytes;
}

static struct host_claim copy_claim(const struct sim_copy *copy, bool write) {
    if (write)
        return (struct host_claim){.address = copy->target,
                                   .size_bytes =
                                       copy_extent_bytes(copy, copy->target_row_stride, copy->target_slice_stride),
                                   .write = true};
    return (struct host_claim){.address = copy->source,
                               .size_bytes =
                                   copy_extent_bytes(copy, copy->source_row_stride, copy->source_slice_stride)};
}

/* The array that contains the address: an array in pooled memory, or else the whole allocation. */
static struct host_claim array_claim(uintptr_t address) {
    const struct sim_allocation *allocation = le_sim_memory_find(address, 1);
    struct host_claim range = {.write = true, .kernel = true};
    if (!allocation)
        return range;
    range.address = allocation->address;
    range.size_bytes = allocation->size_bytes;
    for (int k = 0; k < guard.array_count; k++)
        if (guard.arrays[k].address <= address && address - guard.arrays[k].address < guard.arrays[k].size_bytes) {
            range.address = guard.arrays[k].address;
            range.size_bytes = guard.arrays[k].size_bytes;
        }
    return range;
}

bool le_sim_guard_add(const struct sim_stream *stream, const struct sim_op *op) {
    bool ok = true;
    uintptr_t address;
    if (op->kind == SIM_OP_COPY)
        return (!op->copy.target_known || add_claim(stream, op, copy_claim(&op->copy, true))) &&
               (!op->copy.source_known || add_claim(stream, op, copy_claim(&op->copy, false)));
    if (op->kind == SIM_OP_FILL) {
        struct host_claim range = {
            .address = op->fill.target, .size_bytes = op->fill.count * (size_t)op->fill.value_bytes, .write = true};
        return add_claim(stream, op, range);
    }
    for (size_t k = 0; ok && op->kind == SIM_OP_KERNEL && (address = le_sim_kernel_address(op->kernel, k)); k++)
        ok = add_claim(stream, op, array_claim(address));
    return ok;
}

/* Removes the claims for which gone returns true, and updates the protection of their memory. */
static void claims_remove(bool (*gone)(const struct host_claim *claim, const void *what), const void *what) {
    le_sim_guard_lock();
    for (int k = guard.claim_count; k-- > 0;)
        if (gone(&guard.claims[k], what)) {
            struct host_claim removed = guard.claims[k];
            guard.claims[k] = guard.claims[--guard.claim_count];
            update_protection(removed.address, removed.size_bytes, removed.kind);
        }
    le_sim_guard_unlock();
}

static bool known_over(const struct host_claim *claim, const void *what) {
    return le_sim_vector_has(what, claim->slot, claim->number);
}

void le_sim_guard_release(void) {
    claims_remove(known_over, &le_sim_state()->host_vector);
}

static bool in_allocation(const struct host_claim *claim, const void *what) {
    const struct sim_allocation *allocation = what;
    return claim->address >= allocation->address && claim->address - allocation->address < allocation->size_bytes;
}

static void arrays_remove(uintptr_t address, size_t size_bytes) {
    for (int k = guard.array_count; k-- > 0;)
        if (guard.arrays[k].address < address + size_bytes &&
            guard.arrays[k].address + guard.arrays[k].size_bytes > address)
            guard.arrays[k] = guard.arrays[--guard.array_count];
}

void le_sim_guard_allocation(const struct sim_allocation *allocation, bool live) {
    const struct sim_memory *memory = &le_sim_state()->memory;
    if (!atomic_load(&guard.on))
        return;
    guard.base = memory->base;
    guard.end = memory->base + memory->reserved_bytes;
    if (allocation->kind == SIM_ALLOCATION_DEVICE && live) {
        install_handler();
        protect_pages(allocation->address, allocation->span_bytes, true, PROT_NONE);
    }
    if (!live) {
        arrays_remove(allocation->address, allocation->size_bytes);
        claims_remove(in_allocation, allocation);
    }
}

void le_sim_guard_array(uintptr_t address, size_t size_bytes, bool live) {
    arrays_remove(address, size_bytes);
    if (!live)
        return;
    if (guard.array_count == guard.array_capacity) {
        int capacity = guard.array_capacity ? 2 * guard.array_capacity : 32;
        struct pooled_array *arrays = le_realloc(guard.arrays, (size_t)capacity * sizeof *arrays);
        if (!arrays)
            return; /* the whole allocation is claimed instead */
        guard.arrays = arrays;
        guard.array_capacity = capacity;
    }
    guard.arrays[guard.array_count++] = (struct pooled_array){address, size_bytes};
}

/* ---- before and after an operation runs */

static void open_to_device(struct host_claim range, bool known) {
    const struct sim_allocation *allocation = known ? le_sim_memory_find(range.address, 1) : NULL;
    if (allocation && allocation->kind != SIM_ALLOCATION_MODULE)
        protect_pages(range.address, range.size_bytes, allocation->kind != SIM_ALLOCATION_REGISTERED,
                      PROT_READ | PROT_WRITE);
}

void le_sim_guard_open(const struct sim_op *op) {
    if (!atomic_load(&guard.on))
        return;
    if (op->kind == SIM_OP_COPY) {
        open_to_device(copy_claim(&op->copy, true), op->copy.target_known);
        open_to_device(copy_claim(&op->copy, false), op->copy.source_known);
    } else if (op->kind == SIM_OP_FILL) {
        open_to_device((struct host_claim){.address = op->fill.target,
                                           .size_bytes = op->fill.count * (size_t)op->fill.value_bytes},
                       true);
    } else if (op->kind == SIM_OP_KERNEL) {
        device_protect(PROT_READ | PROT_WRITE);
        for (int k = 0; k < guard.claim_count; k++)
            protect_pages(guard.claims[k].address, guard.claims[k].size_bytes, whole_pages(guard.claims[k].kind),
                          PROT_READ | PROT_WRITE);
    }
}

/* The kernel has run: confirms the reads that did not wait for it if it changed what was read, and drops the others. */
static void confirm_reads(uint64_t number) {
    for (int k = 0; k < ACCESSES_MAX; k++) {
        struct host_access *access = &guard.accesses[k];
        if (!access->used || access->confirmed || access->claim.number != number)
            continue;
        const void *now = (const void *)(access->address & ~(uintptr_t)(SEEN_BYTES - 1));
        access->confirmed = memcmp(access->seen, now, SEEN_BYTES) != 0;
        access->used = access->confirmed;
    }
}

static void close_to_host(struct host_claim range, bool known) {
    const struct sim_allocation *allocation = known ? le_sim_memory_find(range.address, 1) : NULL;
    if (allocation && allocation->kind == SIM_ALLOCATION_DEVICE)
        protect_pages(range.address, range.size_bytes, true, PROT_NONE);
    else if (allocation && allocation->kind != SIM_ALLOCATION_MODULE)
        update_protection(range.address, range.size_bytes, allocation->kind);
}

void le_sim_guard_close(const struct sim_op *op) {
    if (!atomic_load(&guard.on))
        return;
    le_sim_guard_lock();
    if (op->kind == SIM_OP_COPY) {
        close_to_host(copy_claim(&op->copy, true), op->copy.target_known);
        close_to_host(copy_claim(&op->copy, false), op->copy.source_known);
    } else if (op->kind == SIM_OP_FILL) {
        close_to_host((struct host_claim){.address = op->fill.target,
                                          .size_bytes = op->fill.count * (size_t)op->fill.value_bytes},
                      true);
    } else if (op->kind == SIM_OP_KERNEL) {
        confirm_reads(op->number);
        device_protect(PROT_NONE);
        close_claimed(0, UINTPTR_MAX);
    }
    le_sim_guard_unlock();
}

void le_sim_guard_drop_unconfirmed(void) {
    le_sim_guard_lock();
    for (int k = 0; k < ACCESSES_MAX; k++)
        if (!guard.accesses[k].confirmed && !guard.accesses[k].call_followed)
            guard.accesses[k].used = false;
    le_sim_guard_unlock();
}

/* ---- reporting */

static void report_pinned_access(struct sim_check *check, const struct host_access *access) {
    char stream[32] = "the NULL stream";
    if (access->claim.stream_id)
        snprintf(stream, sizeof stream, "stream %u", access->claim.stream_id);
    le_sim_check_report(check, SIM_REPORT_HOST_READ, NULL, NULL,
                        "missing synchronization before a host %s of %s memory that '%s' (%s) has not finished %s",
                        access->write ? "write" : "read",
                        access->claim.kind == SIM_ALLOCATION_PINNED ? "pinned" : "registered", access->claim.what,
                        stream, access->claim.write ? "writing" : "reading");
}

static void report_device_access(struct sim_check *check, const struct host_access *access) {
    le_sim_check_report(check, SIM_REPORT_HOST_READ, NULL, NULL, "host %s of device memory%s: use copies to access it",
                        access->write ? "write" : "read", access->live ? "" : " that is not allocated");
}

/* Protects a page that the handler opened. */
static void close_again(const struct host_access *access) {
    if (access->on_device)
        protect_pages(access->address, 1, true, PROT_NONE);
    else
        update_protection(access->address & ~(uintptr_t)(guard.page_bytes - 1), guard.page_bytes, access->claim.kind);
}

/* In a thread that blocks SIGSEGV, the fault would end the process. */
static void unblock_sigsegv(void) {
    static _Thread_local bool done;
    sigset_t fault;
    if (done)
        return;
    sigemptyset(&fault);
    sigaddset(&fault, SIGSEGV);
    done = !pthread_sigmask(SIG_UNBLOCK, &fault, NULL);
}

void le_sim_guard_report(void) {
    struct sim_check *check = le_sim_state()->check;
    unblock_sigsegv();
    for (int k = 0; k < ACCESSES_MAX; k++) {
        struct host_access *access = &guard.accesses[k];
        if (!access->used)
            continue;
        le_sim_guard_lock();
        struct host_access told = *access;
        access->call_followed = true;
        if (told.confirmed)
            access->used = false;
        close_again(&told);
        le_sim_guard_unlock();
        if (told.confirmed && told.on_device)
            report_device_access(check, &told);
        else if (told.confirmed)
            report_pinned_access(check, &told);
    }
}
