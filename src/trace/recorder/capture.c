/* See capture.h. Driver calls inside a runtime call are made by the runtime, not by the program, so they are ignored.
 */
#include "trace/recorder/capture.h"
#include "base/clock.h"
#include "base/hash.h"
#include "trace/recorder/call_roles.h"
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* ---- samples */

/* Small copies may be equal by chance, and the system call takes 2 us, so only larger copies are sampled. */
enum { PIECES = 8, LEAST_SAMPLED = 4096 };

/* A hash of eight words spread over the bytes; 0 if there are too few bytes or they cannot be read. A system call reads
 * them, so an address that is not valid on the host does no harm. */
static uint64_t sample(uint64_t address, uint64_t size_bytes) {
    uint64_t words[PIECES];
    struct iovec pieces[PIECES], all = {.iov_base = words, .iov_len = sizeof words};
    if (size_bytes < LEAST_SAMPLED)
        return 0;
    uint64_t step = (size_bytes - 8) / (PIECES - 1);
    for (uint64_t k = 0; k < PIECES; k++)
        pieces[k] = (struct iovec){.iov_base = (void *)(uintptr_t)(address + k * step), .iov_len = 8};
    if (process_vm_readv(getpid(), &all, 1, pieces, PIECES, 0) != (ssize_t)sizeof words)
        return 0;
    return le_hash(words, sizeof words, size_bytes) | 1;
}

/* ---- calls */

/* Whether this thread is inside a runtime call. A call that never returned is over when the next one begins. */
static _Thread_local bool inside_runtime;

struct copy_parameters { /* the first parameters of all plain copies */
    uint64_t to, from;
    size_t size_bytes;
    int direction; /* only in the runtime */
};

static void put_transfer(struct le_capture *capture, const struct le_cupti_callback *call, unsigned roles) {
    enum { UPLOAD = 1, DOWNLOAD = 2 }; /* values of enum cudaMemcpyKind */
    const struct copy_parameters *copy = call->parameters;
    if (!copy)
        return;
    if (roles & LE_ROLE_EITHER) {
        roles |= copy->direction == UPLOAD ? LE_ROLE_UPLOAD : 0;
        roles |= copy->direction == DOWNLOAD ? LE_ROLE_DOWNLOAD : 0;
    }
    bool up = roles & LE_ROLE_UPLOAD, waits = roles & LE_ROLE_WAITS;
    /* The bytes of an upload are valid when the call begins, those of a download when a waiting call ends. */
    int site = !up && waits ? LE_CUPTI_EXIT : LE_CUPTI_ENTER;
    if (!(roles & (LE_ROLE_UPLOAD | LE_ROLE_DOWNLOAD)) || call->site != site)
        return;
    struct le_trace_transfer transfer = {.correlation = call->correlation,
                                         .host = up ? copy->from : copy->to,
                                         .device = up ? copy->to : copy->from,
                                         .bytes = copy->size_bytes};
    if (up || waits)
        transfer.sample = sample(transfer.host, transfer.bytes);
    le_event_ring_put(capture->ring, LE_TRACE_TRANSFER, &transfer, sizeof transfer, NULL, 0);
}

/* The time on CUPTI's clock. */
static uint64_t cupti_ns(const struct le_capture *capture) {
    uint64_t time_ns = 0;
    capture->cupti->get_timestamp(&time_ns);
    return time_ns;
}

static uint32_t stream_id(const struct le_capture *capture, const struct le_cupti_callback *call) {
    const le_cupti_stream *stream = call->parameters; /* the first parameter */
    bool of_thread = call->function_name && strstr(call->function_name, "_pts");
    uint32_t id = LE_TRACE_NO_STREAM;
    if (stream && capture->cupti->get_stream_id)
        capture->cupti->get_stream_id(NULL, *stream, of_thread, &id);
    return id;
}

static void put_sync(struct le_capture *capture, const struct le_cupti_callback *call, unsigned roles) {
    static _Thread_local struct {
        uint64_t start_ns;
        uint32_t correlation;
    } begun;
    if (call->site == LE_CUPTI_ENTER) {
        begun.start_ns = cupti_ns(capture);
        begun.correlation = call->correlation;
        return;
    }
    if (begun.correlation != call->correlation) /* the call began in a pause */
        return;
    struct le_trace_sync sync = {.start_ns = begun.start_ns,
                                 .end_ns = cupti_ns(capture),
                                 .correlation = call->correlation,
                                 .context = call->context_id,
                                 .stream = LE_TRACE_NO_STREAM};
    sync.kind = roles & LE_ROLE_SYNC_EVENT          ? LE_TRACE_SYNC_EVENT
                : roles & LE_ROLE_SYNC_STREAM_EVENT ? LE_TRACE_SYNC_STREAM_EVENT
                : roles & LE_ROLE_SYNC_STREAM       ? LE_TRACE_SYNC_STREAM
                                                    : LE_TRACE_SYNC_CONTEXT;
    if (roles & (LE_ROLE_SYNC_STREAM | LE_ROLE_SYNC_STREAM_EVENT))
        sync.stream = stream_id(capture, call);
    le_event_ring_put(capture->ring, LE_TRACE_SYNC, &sync, sizeof sync, NULL, 0);
}

static void put_origin(struct le_capture *capture, const struct le_cupti_callback *call) {
    struct le_trace_origin origin = {.correlation = call->correlation, .source = le_sources_capture(capture->sources)};
    if (origin.source)
        le_event_ring_put(capture->ring, LE_TRACE_ORIGIN, &origin, sizeof origin, NULL, 0);
}

/* ---- captures: what recording adds to launches that a graph captures. These calls are so short that recording them
 * can take longer than the calls themselves. */

/* What CUPTI's record and callback add to a captured launch: between 0.4 us on a quiet host with an H100 (CUPTI 13.0),
 * where the launch itself takes 0.45 us, and 1.1 us on a busy host. */
enum { CAPTURED_LAUNCH_NS = 800 };
/* If the recorder takes longer for a launch, the system interrupted it. */
enum { LONGEST_RECORDER_NS = 20000 };

static _Thread_local struct {
    bool is_on;
    uint64_t start_ns, launches, recorder_ns;
} capturing;

static void add_to_sum(_Atomic uint64_t *sum, uint64_t value) {
    atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}

/* CPU time, so that other work of the machine does not count. */
static uint64_t thread_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A second begin does not restart a capture. A capture that failed to begin counts until the next end. */
static void follow_capture(struct le_capture *capture, const struct le_cupti_callback *call, unsigned roles) {
    if (roles & LE_ROLE_CAPTURE_BEGIN && call->site == LE_CUPTI_EXIT && !capturing.is_on) {
        capturing.is_on = true;
        capturing.launches = capturing.recorder_ns = 0;
        capturing.start_ns = thread_ns();
    }
    if (!(roles & LE_ROLE_CAPTURE_END) || call->site != LE_CUPTI_ENTER || !capturing.is_on)
        return;
    capturing.is_on = false;
    if (!capturing.launches)
        return;
    add_to_sum(&capture->captured_launches, capturing.launches);
    add_to_sum(&capture->capture_ns, thread_ns() - capturing.start_ns);
    add_to_sum(&capture->capture_recording_ns, capturing.launches * CAPTURED_LAUNCH_NS + capturing.recorder_ns);
}

/* ---- the callback */

/* Whether there is something to record when the call begins or ends. */
static bool is_recorded(const struct le_capture *capture, const struct le_cupti_callback *call, unsigned roles) {
    bool begins = call->site == LE_CUPTI_ENTER;
    return (begins && capture->sources) || roles & LE_ROLE_SYNC || roles & LE_ROLE_EITHER ||
           (begins && roles & LE_ROLE_UPLOAD) || (roles & LE_ROLE_DOWNLOAD && begins != !!(roles & LE_ROLE_WAITS));
}

static void record_call(struct le_capture *capture, const struct le_cupti_callback *call, unsigned roles) {
    if (!is_recorded(capture, call, roles))
        return;
    uint64_t start_ns = le_clock_ns();
    if (capture->sources && call->site == LE_CUPTI_ENTER && roles & LE_ROLE_ORIGIN)
        put_origin(capture, call);
    if (roles & (LE_ROLE_UPLOAD | LE_ROLE_DOWNLOAD | LE_ROLE_EITHER))
        put_transfer(capture, call, roles);
    if (roles & LE_ROLE_SYNC)
        put_sync(capture, call, roles);
    if (le_event_ring_is_half_full(capture->ring))
        capture->ring_half_full(capture->user);
    uint64_t time_ns = le_clock_ns() - start_ns;
    add_to_sum(&capture->recorder_ns, time_ns);
    if (capturing.is_on && roles & LE_ROLE_LAUNCH) {
        capturing.launches++;
        capturing.recorder_ns += time_ns < LONGEST_RECORDER_NS ? time_ns : LONGEST_RECORDER_NS;
    }
}

void le_capture_call(void *user, le_cupti_domain domain, uint32_t id, const void *data) {
    struct le_capture *capture = user;
    const struct le_cupti_callback *call = data;
    bool of_runtime = domain == LE_CUPTI_DOMAIN_RUNTIME;
    int error = errno;
    if ((domain != LE_CUPTI_DOMAIN_DRIVER && !of_runtime) || id >= LE_CAPTURE_FUNCTIONS)
        return;
    unsigned roles = capture->roles_of[of_runtime][id];
    bool outermost = of_runtime || !inside_runtime;
    if (of_runtime)
        inside_runtime = call->site == LE_CUPTI_ENTER;
    if (roles & LE_ROLE_RESUME && call->site == LE_CUPTI_EXIT)
        capture->profiler_switched(capture->user, true);
    if (roles & LE_ROLE_PAUSE && call->site == LE_CUPTI_ENTER)
        capture->profiler_switched(capture->user, false);
    if (roles & LE_ROLE_GRAPH && call->site == LE_CUPTI_ENTER)
        capture->graph_begins(capture->user);
    if (roles & (LE_ROLE_CAPTURE_BEGIN | LE_ROLE_CAPTURE_END) && outermost)
        follow_capture(capture, call, roles);
    if (roles & (LE_ROLE_ORIGIN | LE_ROLE_SYNC) && outermost &&
        atomic_load_explicit(&capture->is_on, memory_order_relaxed))
        record_call(capture, call, roles);
    errno = error;
}

static void enable_domain(struct le_capture *capture, const struct le_cupti *cupti, le_cupti_subscriber subscriber,
                          le_cupti_domain domain) {
    uint16_t *roles_of = capture->roles_of[domain == LE_CUPTI_DOMAIN_RUNTIME];
    const char *name;
    for (uint32_t id = 0; le_call_next(cupti, domain, &id, &name) && id < LE_CAPTURE_FUNCTIONS;) {
        uint16_t roles = le_call_roles_of(name);
        if (!capture->profiler_switched)
            roles &= (uint16_t) ~(LE_ROLE_RESUME | LE_ROLE_PAUSE | LE_ROLE_GRAPH);
        bool transfers = roles & (LE_ROLE_UPLOAD | LE_ROLE_DOWNLOAD | LE_ROLE_EITHER);
        bool switches = roles & (LE_ROLE_RESUME | LE_ROLE_PAUSE | LE_ROLE_GRAPH);
        if (!transfers && !switches && !(roles & LE_ROLE_SYNC) && !(roles && capture->sources))
            continue;
        if (capture->graphs_only && roles & LE_ROLE_LAUNCH)
            continue;
        roles_of[id] = roles;
        cupti->enable_callback(1, subscriber, domain, id);
    }
}

void le_capture_enable(struct le_capture *capture, const struct le_cupti *cupti, le_cupti_subscriber subscriber) {
    capture->cupti = cupti;
    enable_domain(capture, cupti, subscriber, LE_CUPTI_DOMAIN_DRIVER);
    enable_domain(capture, cupti, subscriber, LE_CUPTI_DOMAIN_RUNTIME);
}
