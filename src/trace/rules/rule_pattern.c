/* repeating-pattern: the same launches repeat in the same order, and what a graph of one turn would save.
 *
 * The calls of the thread that launches most become a sequence of symbols (what is launched, copied, waited for). The
 * period is a distance at which runs of 16 symbols repeat. The turns are the longest stretch in which each symbol
 * equals the one a period before. Waits divide a turn into segments, each of which would be a graph. If the host is
 * ahead, segments overlap; overlapping segments are one stretch of time. A graph's time is that of its nodes and its
 * launch. A node takes less than the kernel's time, because CUPTI's time includes about a microsecond of start and end,
 * half of which a graph hides. Apart from that, no graph makes a stretch shorter than the device was busy in it. */
#include "base/hash.h"
#include "trace/rules/groups.h"
#include "trace/rules/rule_input.h"
#include <string.h>

/* Measured on an H200: a node takes at least 0.5 us. A kernel of 1.3 us takes 1.8 us in a graph, and CUPTI reports 2.3
 * us for it. Launching a graph takes the host 3.7 us, and the device starts it a few us later. In a stream a kernel
 * takes 0.3 us more than CUPTI reports. */
enum { NODE_NS = 500, HIDDEN_NS = 500, GRAPH_NS = 8000, STREAM_GAP_NS = 300 };
/* Capturing and instantiating a node takes as long as launching it once or twice, which ten turns pay for. A graph of
 * four nodes takes as long as four launches. */
enum { LEAST_TURNS = 10, LEAST_NODES = 5 };
/* If a turn has fewer launches than LEAST_NODES, this many launches of several turns count as one graph. */
enum { GRAPH_OF_ALIKE = 500 };
/* Percent of the turns' time. */
enum { LEAST_GAIN = 10 };
enum { RUN = 16, LONGEST_PERIOD = 1 << 15, SEARCHED = 1 << 20, CANDIDATES = 8 };

struct sequence {
    uint64_t *symbols;
    int32_t *calls;
    int32_t count;
};

struct turns {
    int32_t from, to, period; /* symbols from..to repeat with the period */
    int64_t count, launches;
    int64_t graph_launches; /* launches that go into one graph: a turn's, or GRAPH_OF_ALIKE */
    uint64_t span_ns, graph_ns;
    struct le_estimate recording;
};

/* Segments that overlap. */
struct stretch {
    uint64_t start_ns, end_ns;
    uint64_t nodes_ns, hidden_ns;
    uint64_t least_ns; /* in streams, with a device that waits for nothing */
};

static const struct le_call *call_at(const struct le_rule_input *input, const struct sequence *sequence, int32_t k) {
    return &input->index->calls.at[sequence->calls[k]];
}

static bool is_step(const struct le_call *call) {
    return call->kind >= LE_CALL_LAUNCH && call->kind <= LE_CALL_WAIT && call->kind != LE_CALL_GRAPH_BUILD;
}

static bool ends_segment(const struct le_call *call) {
    return call->kind == LE_CALL_WAIT || call->kind == LE_CALL_COPY || call->kind == LE_CALL_GRAPH_LAUNCH;
}

static uint64_t symbol_of(const struct le_rule_input *input, const struct le_call *call) {
    const struct le_operation *operation = le_operation_of(input, call);
    int64_t parts[5] = {call->kind, 0};
    if (operation && operation->kind == LE_OPERATION_KERNEL) {
        parts[1] = operation->name;
        parts[2] = operation->shape;
        parts[3] = operation->stream;
    } else if (operation) {
        parts[1] = operation->name;
        parts[2] = (int64_t)operation->bytes;
    }
    return le_hash(parts, sizeof parts, 0);
}

static int32_t busiest_thread(const struct le_rule_input *input) {
    struct le_position_groups threads = {0};
    const struct le_position_group *most = NULL;
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        if (call->kind == LE_CALL_LAUNCH)
            le_groups_get(input->scratch, &threads, (uint64_t)call->thread)->count++;
    }
    for (int k = 0; k < threads.count; k++)
        if (!most || threads.at[k].count > most->count)
            most = &threads.at[k];
    return most ? (int32_t)most->key : LE_NONE;
}

static void make_sequence(struct le_rule_input *input, struct sequence *sequence) {
    int32_t thread = busiest_thread(input);
    sequence->symbols = LE_NEW_ARRAY(input->scratch, input->call_count, uint64_t);
    sequence->calls = LE_NEW_ARRAY(input->scratch, input->call_count, int32_t);
    sequence->count = 0;
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        if (call->thread != thread || !is_step(call))
            continue;
        sequence->symbols[sequence->count] = symbol_of(input, call);
        sequence->calls[sequence->count++] = input->calls[k];
    }
}

/* How often runs of symbols come again at each distance, weighed by the distance. */
static void count_distances(struct le_rule_input *input, const struct sequence *sequence, uint64_t *weights) {
    struct le_position_groups last = {.most = SEARCHED};
    int32_t count = sequence->count < SEARCHED ? sequence->count : SEARCHED;
    for (int32_t k = 0; k + RUN <= count; k++) {
        uint64_t key = le_hash(sequence->symbols + k, RUN * sizeof *sequence->symbols, 0);
        struct le_position_group *group = le_groups_get(input->scratch, &last, key);
        if (group->count++ && k - group->first <= LONGEST_PERIOD)
            weights[k - group->first] += (uint64_t)(k - group->first);
        group->first = k;
    }
}

/* The longest stretch with this period. */
static void find_stretch(const struct sequence *sequence, int32_t period, struct turns *turns) {
    *turns = (struct turns){.period = period};
    for (int32_t k = period, from = 0; k <= sequence->count; k++) {
        if (k < sequence->count && sequence->symbols[k] == sequence->symbols[k - period])
            continue;
        if (k - from > turns->to - turns->from && k - from > period) {
            turns->from = from;
            turns->to = k;
        }
        from = k - period + 1;
    }
    turns->count = (turns->to - turns->from) / period;
}

static struct turns find_turns(struct le_rule_input *input, const struct sequence *sequence) {
    uint64_t *weights = LE_NEW_ARRAY(input->scratch, LONGEST_PERIOD + 1, uint64_t);
    struct turns best = {0};
    count_distances(input, sequence, weights);
    for (int candidate = 0; candidate < CANDIDATES; candidate++) {
        int32_t period = 0;
        for (int32_t k = 1; k <= LONGEST_PERIOD; k++)
            if (weights[k] > weights[period])
                period = k;
        if (period == 0)
            break;
        weights[period] = 0;
        struct turns turns;
        find_stretch(sequence, period, &turns);
        if (turns.to - turns.from > best.to - best.from)
            best = turns;
    }
    return best;
}

static void end_stretch(const struct le_rule_input *input, const struct stretch *stretch, struct turns *turns) {
    uint64_t span_ns = stretch->end_ns - stretch->start_ns;
    uint64_t busy_ns = le_periods_overlap(&input->busy, stretch->start_ns, stretch->end_ns);
    uint64_t least_ns = busy_ns > stretch->hidden_ns ? busy_ns - stretch->hidden_ns : 0;
    uint64_t slack_ns = span_ns > stretch->least_ns ? span_ns - stretch->least_ns : 0; /* else recording hid */
    turns->span_ns += span_ns;
    turns->graph_ns += stretch->nodes_ns > least_ns ? stretch->nodes_ns : least_ns;
    le_estimate_add(&turns->recording,
                    le_estimate_within(le_recording_estimate(input, stretch->start_ns, stretch->end_ns), slack_ns));
}

static void add_node(const struct le_call *call, const struct le_operation *operation, struct stretch *segment) {
    uint64_t time_ns = le_operation_ns(operation), node_ns = time_ns;
    if (call->kind == LE_CALL_LAUNCH)
        node_ns = time_ns > NODE_NS + HIDDEN_NS ? time_ns - HIDDEN_NS : NODE_NS;
    segment->start_ns = segment->start_ns ? segment->start_ns : call->start_ns;
    segment->end_ns = operation->end_ns > segment->end_ns ? operation->end_ns : segment->end_ns;
    segment->nodes_ns += node_ns;
    segment->hidden_ns += time_ns > node_ns ? time_ns - node_ns : 0;
    segment->least_ns += time_ns + STREAM_GAP_NS;
}

/* Adds the segment of calls first..last, without a wait in it, to the account. */
static void add_segment(struct le_rule_input *input, const struct sequence *sequence, int32_t first, int32_t last,
                        struct stretch *stretch, struct turns *turns) {
    struct stretch segment = {0};
    int64_t launches = 0;
    for (int32_t k = first; k <= last; k++) {
        const struct le_call *call = call_at(input, sequence, k);
        const struct le_operation *operation = le_operation_of(input, call);
        if (!operation)
            continue;
        add_node(call, operation, &segment);
        launches += call->kind == LE_CALL_LAUNCH;
    }
    if (launches < LEAST_NODES)
        return;
    int64_t graphs = launches > turns->graph_launches ? launches / turns->graph_launches : 1;
    turns->launches += launches;
    le_rule_input_charge(input, call_at(input, sequence, first), segment.end_ns - segment.start_ns);
    if (segment.start_ns >= stretch->end_ns) {
        end_stretch(input, stretch, turns);
        *stretch = (struct stretch){.start_ns = segment.start_ns};
    }
    stretch->end_ns = segment.end_ns > stretch->end_ns ? segment.end_ns : stretch->end_ns;
    stretch->nodes_ns += segment.nodes_ns + (uint64_t)graphs * GRAPH_NS;
    stretch->hidden_ns += segment.hidden_ns;
    stretch->least_ns += segment.least_ns;
}

static void add_segments(struct le_rule_input *input, const struct sequence *sequence, struct turns *turns) {
    for (int32_t k = turns->from; k < turns->from + turns->period; k++)
        turns->graph_launches += call_at(input, sequence, k)->kind == LE_CALL_LAUNCH;
    if (turns->graph_launches == 0)
        return;
    if (turns->graph_launches < LEAST_NODES)
        turns->graph_launches = GRAPH_OF_ALIKE;
    struct stretch stretch = {0};
    for (int32_t k = turns->from, first = k; k <= turns->to; k++) {
        if (k < turns->to && !ends_segment(call_at(input, sequence, k)))
            continue;
        if (k > first)
            add_segment(input, sequence, first, k - 1, &stretch, turns);
        first = k + 1;
    }
    end_stretch(input, &stretch, turns);
}

static const char *title(const struct le_rule_input *input, const struct turns *turns, uint64_t span_ns) {
    struct le_arena *arena = input->arena;
    const char *calls = turns->period == 1 ? "The same call is made"
                                           : le_arena_format(arena, "The same %s calls are made",
                                                             le_format_count(arena, (uint64_t)turns->period));
    return le_arena_format(arena, "%s %s times in a row: %s, or %s as CUDA graphs", calls,
                           le_format_count(arena, (uint64_t)turns->count), le_format_time(arena, span_ns),
                           le_format_time(arena, turns->graph_ns));
}

/* What the calls of a turn are: "500 launches, 1 wait, the first launch of kernel0". */
static const char *describe_turn(const struct le_rule_input *input, const struct sequence *sequence,
                                 const struct turns *turns) {
    static const struct {
        const char *one, *many;
    } words[] = {{"launch", "launches"},
                 {"graph launch", "graph launches"},
                 {"copy", "copies"},
                 {"set", "sets"},
                 {"wait", "waits"}};
    static const uint8_t word_of[] = {[LE_CALL_LAUNCH] = 0,     [LE_CALL_GRAPH_LAUNCH] = 1, [LE_CALL_COPY] = 2,
                                      [LE_CALL_COPY_ASYNC] = 2, [LE_CALL_SET] = 3,          [LE_CALL_WAIT] = 4};
    struct le_arena *arena = input->arena;
    uint64_t counts[ARRAY_LEN(words)] = {0};
    const char *text = "", *kernel = NULL;
    for (int32_t k = turns->from; k < turns->from + turns->period; k++) {
        const struct le_call *call = call_at(input, sequence, k);
        const struct le_operation *operation = le_operation_of(input, call);
        counts[word_of[call->kind]]++;
        if (!kernel && operation && operation->kind == LE_OPERATION_KERNEL)
            kernel = le_kernel_name(input, operation->name);
    }
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (counts[k])
            text = le_arena_format(arena, "%s%s%s", text, *text ? ", " : "",
                                   le_format_counted(arena, counts[k], words[k].one, words[k].many));
    if (!kernel)
        return text;
    return le_arena_format(arena, counts[0] == 1 ? "%s; it launches %s" : "%s; the first launches %s", text, kernel);
}

void le_rule_repeating_pattern(struct le_rule_input *input) {
    struct sequence sequence;
    make_sequence(input, &sequence);
    struct turns turns = find_turns(input, &sequence);
    if (turns.count < LEAST_TURNS)
        return;
    add_segments(input, &sequence, &turns);
    uint64_t span_ns = turns.span_ns - turns.recording.likely;
    struct le_estimate gain = {0};
    if (turns.span_ns > turns.graph_ns)
        gain = le_estimate_of_rest(turns.recording, turns.span_ns - turns.graph_ns);
    if (turns.launches < LEAST_NODES * LEAST_TURNS || gain.likely * 100 < span_ns * LEAST_GAIN ||
        gain.likely < input->least_gain_ns)
        return;
    struct le_arena *arena = input->arena;
    const struct le_call *first = call_at(input, &sequence, turns.from);
    const struct le_call *last = call_at(input, &sequence, turns.to - 1);
    le_rule_input_claim(
        input,
        &(struct le_claim){
            .rule = "repeating-pattern",
            .title = title(input, &turns, span_ns),
            .evidence = le_arena_format(
                arena,
                "each time: %s\na launch takes %s now, and %s in graphs of %s launches; the %s that recording "
                "added are not counted\nassumed: kernel arguments stay the same, or are updated in the "
                "graph at 0.2 us each%s",
                describe_turn(input, &sequence, &turns), le_format_time(arena, span_ns / (uint64_t)turns.launches),
                le_format_time(arena, turns.graph_ns / (uint64_t)turns.launches),
                le_format_count(arena, (uint64_t)turns.graph_launches), le_format_time(arena, turns.recording.likely),
                le_recording_doubt_text(input, gain)),
            .advice = LE_ADVICE_GRAPH,
            .gain_ns = gain.likely,
            .confidence = LE_PLAUSIBLE,
            .start_ns = first->start_ns,
            .end_ns = last->end_ns,
        });
}
