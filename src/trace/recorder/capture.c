/* See capture.h. A runtime call's driver calls are made by the runtime, not by the program: they are passed over. */
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

/* Small copies are alike by chance, and the system takes 2 us to read them: rules look at larger ones alone. */
enum { PIECES = 8, LEAST_SAMPLED = 4096 };

/* A hash of eight words spread over the bytes; 0 where they are too few or cannot be read. The system reads them, so
 * that an address that is none of the host's is no fault. */
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

/* Whether this thread is inside of a runtime call; one that never returned is over when the next one begins. */
static _Thread_local bool inside_runtime;

struct copy_parameters { /* how the parameters of all plain copies begin */
    uint64_t to, from;
    size_t size_bytes;
    int direction; /* the runtime's alone */
};

static void put_transfer(struct le_capture *capture, const struct le_cupti_callback *call, unsigned place) {
    enum { UPLOAD = 1, DOWNLOAD = 2 }; /* of enum cudaMemcpyKind */
    const struct copy_parameters *copy = call->parameters;
    if (!copy)
        return;
    if (place & LE_PLACE_EITHER) {
        place |= copy->direction == UPLOAD ? LE_PLACE_UPLOAD : 0;
        place |= copy->direction == DOWNLOAD ? LE_PLACE_DOWNLOAD : 0;
    }
    bool up = place & LE_PLACE_UPLOAD, waits = place & LE_PLACE_WAITS;
    /* what goes up is there when the call begins; what came down, when a call that waits ends */
    int site = !up && waits ? LE_CUPTI_EXIT : LE_CUPTI_ENTER;
    if (!(place & (LE_PLACE_UPLOAD | LE_PLACE_DOWNLOAD)) || call->site != site)
        return;
    struct le_trace_transfer transfer = {.correlation = call->correlation,
                                         .host = up ? copy->from : copy->to,
                                         .device = up ? copy->to : copy->from,
                                         .bytes = copy->size_bytes};
    if (up || waits)
        transfer.sample = sample(transfer.host, transfer.bytes);
    le_event_ring_put(capture->ring, LE_TRACE_TRANSFER, &transfer, sizeof transfer, NULL, 0);
}

/* By CUPTI's clock. */
static uint64_t cupti_ns(const struct le_capture *capture) {
    uint64_t time_ns = 0;
    capture->cupti->get_timestamp(&time_ns);
    return time_ns;
}

static uint32_t stream_id(const struct le_capture *capture, const struct le_cupti_callback *call) {
    const le_cupti_stream *stream = call->parameters; /* the first one */
    bool of_thread = call->function_name && strstr(call->function_name, "_pts");
    uint32_t id = LE_TRACE_NO_STREAM;
    if (stream && capture->cupti->get_stream_id)
        capture->cupti->get_stream_id(NULL, *stream, of_thread, &id);
    return id;
}

static void put_sync(struct le_capture *capture, const struct le_cupti_callback *call, unsigned place) {
    static _Thread_local struct {
        uint64_t start_ns;
        uint32_t correlation;
    } begun;
    if (call->site == LE_CUPTI_ENTER) {
        begun.start_ns = cupti_ns(capture);
        begun.correlation = call->correlation;
        return;
    }
    if (begun.correlation != call->correlation) /* it began in a pause */
        return;
    struct le_trace_sync sync = {.start_ns = begun.start_ns,
                                 .end_ns = cupti_ns(capture),
                                 .correlation = call->correlation,
                                 .context = call->context_id,
                                 .stream = LE_TRACE_NO_STREAM};
    sync.kind = place & LE_PLACE_SYNC_EVENT          ? LE_TRACE_SYNC_EVENT
                : place & LE_PLACE_SYNC_STREAM_EVENT ? LE_TRACE_SYNC_STREAM_EVENT
                : place & LE_PLACE_SYNC_STREAM       ? LE_TRACE_SYNC_STREAM
                                                     : LE_TRACE_SYNC_CONTEXT;
    if (place & (LE_PLACE_SYNC_STREAM | LE_PLACE_SYNC_STREAM_EVENT))
        sync.stream = stream_id(capture, call);
    le_event_ring_put(capture->ring, LE_TRACE_SYNC, &sync, sizeof sync, NULL, 0);
}

static void put_origin(struct le_capture *capture, const struct le_cupti_callback *call) {
    struct le_trace_origin origin = {.correlation = call->correlation, .source = le_sources_capture(capture->sources)};
    if (origin.source)
        le_event_ring_put(capture->ring, LE_TRACE_ORIGIN, &origin, sizeof origin, NULL, 0);
}

/* ---- captures: how much recording adds to launches that a graph captures. They are short calls, so that recording
 * them can take longer than making them. */

/* What CUPTI's record and callback add to a captured launch: 0.4 us on a quiet host with an H100 (CUPTI 13.0), where
 * the launch itself takes 0.45 us, and 1.1 us on a busy one. */
enum { CAPTURED_LAUNCH_NS = 800 };
/* If the recorder takes longer for a launch, the system has interrupted it. */
enum { LONGEST_LOOK_NS = 20000 };

static _Thread_local struct {
    bool is_on;
    uint64_t start_ns, launches, recorder_ns;
} capturing;

static void add(_Atomic uint64_t *sum, uint64_t value) {
    atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}

/* Time of the processor, so that what else the machine does is not counted. */
static uint64_t thread_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A capture that is begun twice goes on; one that failed to begin counts up to the next end. */
static void follow_capture(struct le_capture *capture, const struct le_cupti_callback *call, unsigned place) {
    if (place & LE_PLACE_CAPTURE_BEGIN && call->site == LE_CUPTI_EXIT && !capturing.is_on) {
        capturing.is_on = true;
        capturing.launches = capturing.recorder_ns = 0;
        capturing.start_ns = thread_ns();
    }
    if (!(place & LE_PLACE_CAPTURE_END) || call->site != LE_CUPTI_ENTER || !capturing.is_on)
        return;
    capturing.is_on = false;
    if (!capturing.launches)
        return;
    add(&capture->captured_launches, capturing.launches);
    add(&capture->capture_ns, thread_ns() - capturing.start_ns);
    add(&capture->capture_recording_ns, capturing.launches * CAPTURED_LAUNCH_NS + capturing.recorder_ns);
}

/* ---- the callback */

/* Whether there is something to keep at this end of the call. */
static bool is_looked_at(const struct le_capture *capture, const struct le_cupti_callback *call, unsigned place) {
    bool begins = call->site == LE_CUPTI_ENTER;
    return (begins && capture->sources) || place & LE_PLACE_SYNC || place & LE_PLACE_EITHER ||
           (begins && place & LE_PLACE_UPLOAD) || (place & LE_PLACE_DOWNLOAD && begins != !!(place & LE_PLACE_WAITS));
}

static void look(struct le_capture *capture, const struct le_cupti_callback *call, unsigned place) {
    if (!is_looked_at(capture, call, place))
        return;
    uint64_t start_ns = le_clock_ns();
    if (capture->sources && call->site == LE_CUPTI_ENTER && place & LE_PLACE_ORIGIN)
        put_origin(capture, call);
    if (place & (LE_PLACE_UPLOAD | LE_PLACE_DOWNLOAD | LE_PLACE_EITHER))
        put_transfer(capture, call, place);
    if (place & LE_PLACE_SYNC)
        put_sync(capture, call, place);
    if (le_event_ring_presses(capture->ring))
        capture->pressed(capture->user);
    uint64_t time_ns = le_clock_ns() - start_ns;
    add(&capture->recorder_ns, time_ns);
    if (capturing.is_on && place & LE_PLACE_LAUNCH) {
        capturing.launches++;
        capturing.recorder_ns += time_ns < LONGEST_LOOK_NS ? time_ns : LONGEST_LOOK_NS;
    }
}

void le_capture_call(void *user, le_cupti_domain domain, uint32_t id, const void *data) {
    struct le_capture *capture = user;
    const struct le_cupti_callback *call = data;
    bool of_runtime = domain == LE_CUPTI_DOMAIN_RUNTIME;
    int error = errno;
    if ((domain != LE_CUPTI_DOMAIN_DRIVER && !of_runtime) || id >= LE_CAPTURE_FUNCTIONS)
        return;
    unsigned place = capture->places[of_runtime][id];
    bool outermost = of_runtime || !inside_runtime;
    if (of_runtime)
        inside_runtime = call->site == LE_CUPTI_ENTER;
    if (place & LE_PLACE_RESUME && call->site == LE_CUPTI_EXIT)
        capture->profiler_switched(capture->user, true);
    if (place & LE_PLACE_PAUSE && call->site == LE_CUPTI_ENTER)
        capture->profiler_switched(capture->user, false);
    if (place & LE_PLACE_GRAPH && call->site == LE_CUPTI_ENTER)
        capture->graph_begins(capture->user);
    if (place & (LE_PLACE_CAPTURE_BEGIN | LE_PLACE_CAPTURE_END) && outermost)
        follow_capture(capture, call, place);
    if (place & (LE_PLACE_ORIGIN | LE_PLACE_SYNC) && outermost &&
        atomic_load_explicit(&capture->is_on, memory_order_relaxed))
        look(capture, call, place);
    errno = error;
}

static void enable_domain(struct le_capture *capture, const struct le_cupti *cupti, le_cupti_subscriber subscriber,
                          le_cupti_domain domain) {
    uint16_t *places = capture->places[domain == LE_CUPTI_DOMAIN_RUNTIME];
    const char *name;
    for (uint32_t id = 0; le_call_next(cupti, domain, &id, &name) && id < LE_CAPTURE_FUNCTIONS;) {
        uint16_t place = le_call_roles(name);
        if (!capture->profiler_switched)
            place &= (uint16_t) ~(LE_PLACE_RESUME | LE_PLACE_PAUSE | LE_PLACE_GRAPH);
        bool transfers = place & (LE_PLACE_UPLOAD | LE_PLACE_DOWNLOAD | LE_PLACE_EITHER);
        bool switches = place & (LE_PLACE_RESUME | LE_PLACE_PAUSE | LE_PLACE_GRAPH);
        if (!transfers && !switches && !(place & LE_PLACE_SYNC) && !(place && capture->sources))
            continue;
        if (capture->graphs_only && place & LE_PLACE_LAUNCH)
            continue;
        places[id] = place;
        cupti->enable_callback(1, subscriber, domain, id);
    }
}

void le_capture_enable(struct le_capture *capture, const struct le_cupti *cupti, le_cupti_subscriber subscriber) {
    capture->cupti = cupti;
    enable_domain(capture, cupti, subscriber, LE_CUPTI_DOMAIN_DRIVER);
    enable_domain(capture, cupti, subscriber, LE_CUPTI_DOMAIN_RUNTIME);
}
