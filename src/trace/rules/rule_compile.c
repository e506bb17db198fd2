/* compiling: the same code is compiled again, for other shapes or even for the same ones.
 *
 * Compilers (NVRTC, ptxas, Python) run in the host's own time, which is not recorded. A trace shows only that a module
 * is loaded, and the time since the host's last work for the device, which may have been spent on other things. The
 * kernel that is launched next says what was compiled. Names that differ only in digits count as one: Numba, CuPy and
 * XLA number what they compile. But Inductor's numbers distinguish the kernels of a program (triton_poi_fused_add_0,
 * _1). */
#include "base/hash.h"
#include "trace/rules/groups.h"
#include "trace/rules/once.h"
#include "trace/rules/rule_input.h"
#include <string.h>

/* Loading from memory takes 0.1 ms. Code that takes a millisecond was compiled or read from a disk. If the loads
 * themselves take less, the host may have done anything in the time before them: plausible at most. */
enum { LEAST_EPISODE_NS = 1000000 };
/* Compiling a kernel for two or three types or layouts is normal. */
enum { MOST_OF_ONE = 3 };

struct episode {
    uint64_t start_ns, loaded_ns; /* loaded_ns: the end of its last load; 0: none yet */
    uint64_t load_ns;             /* time in the loads themselves */
    uint64_t until_ns;            /* threads that compile at the same time count once */
};

static bool is_work(const struct le_call *call) {
    return call->kind >= LE_CALL_LAUNCH && call->kind <= LE_CALL_WAIT;
}

static uint64_t name_key(const char *name) {
    uint64_t key = 0;
    bool are_digits_kept = strncmp(name, "triton_", strlen("triton_")) == 0;
    for (; *name; name++)
        if (are_digits_kept || *name < '0' || *name > '9')
            key = le_hash(name, 1, key);
    return key;
}

/* Whether part of the time was not recorded. What the host did then is unknown. */
static bool has_pause(const struct le_rule_input *input, const struct episode *episode) {
    for (int32_t k = 0; k < input->index->pauses.count; k++) {
        const struct le_pause *pause = &input->index->pauses.at[k];
        if (pause->process == input->process && pause->start_ns < episode->loaded_ns &&
            pause->end_ns > episode->start_ns)
            return true;
    }
    return false;
}

/* In groups, first is the position of the first launch among the calls, extra_ns the time of all episodes but the
 * first, and bytes the nanoseconds of all loads. */
static void end_episode(struct le_rule_input *input, struct le_position_groups *groups, struct episode *episode,
                        int32_t k) {
    const struct le_call *call = le_rule_input_call(input, k);
    const struct le_operation *operation = le_operation_of(input, call);
    if (!operation || !le_is_kernel(operation) || episode->loaded_ns - episode->start_ns < LEAST_EPISODE_NS ||
        has_pause(input, episode))
        return;
    uint64_t time_ns = episode->loaded_ns - le_once_from(&episode->until_ns, episode->start_ns, episode->loaded_ns);
    struct le_position_group *group =
        le_groups_get(input->scratch, groups, name_key(le_text_of(input, operation->name)));
    if (group->count++ == 0)
        group->first = k;
    else
        group->extra_ns += time_ns;
    group->time_ns += time_ns;
    group->bytes += episode->load_ns;
}

static struct le_position_groups gather_modules(struct le_rule_input *input) {
    struct le_position_groups groups = {0};
    struct episode episode = {0};
    uint64_t work_ns = 0; /* the end of the last work for the device */
    for (int32_t k = 0; k < input->call_count; k++) {
        const struct le_call *call = le_rule_input_call(input, k);
        if (le_is_module_load(input, call)) {
            if (episode.loaded_ns == 0)
                episode.start_ns = work_ns && work_ns < call->start_ns ? work_ns : call->start_ns;
            episode.loaded_ns = call->end_ns > episode.loaded_ns ? call->end_ns : episode.loaded_ns;
            episode.load_ns += le_call_ns(call);
        } else if (is_work(call)) {
            if (call->kind == LE_CALL_LAUNCH && episode.loaded_ns) {
                end_episode(input, &groups, &episode, k);
                episode = (struct episode){.until_ns = episode.until_ns};
            }
            work_ns = call->end_ns > work_ns ? call->end_ns : work_ns; /* threads may work at the same time */
        }
    }
    return groups;
}

static const char *kernel_of(const struct le_rule_input *input, const struct le_position_group *group) {
    return le_kernel_name(input, le_operation_of(input, le_rule_input_call(input, group->first))->name);
}

void le_rule_compiling(struct le_rule_input *input) {
    struct le_position_groups groups = gather_modules(input);
    uint64_t again = 0, again_ns = 0, load_ns = 0, loads = 0;
    int kernels = 0;
    for (int k = 0; k < groups.count; k++) {
        struct le_position_group *group = &groups.at[k];
        if (group->count <= MOST_OF_ONE) {
            group->extra_ns = 0;
            continue;
        }
        again += group->count - 1;
        again_ns += group->extra_ns;
        loads += group->count;
        load_ns += group->bytes;
        kernels++;
        le_rule_input_charge(input, le_rule_input_call(input, group->first), group->extra_ns);
    }
    if (again == 0 || again_ns < input->least_gain_ns)
        return;
    le_groups_sort(&groups);
    const struct le_position_group *most = &groups.at[0];
    bool is_sure = load_ns >= loads * LEAST_EPISODE_NS;
    struct le_arena *arena = input->arena;
    le_rule_input_claim(
        input,
        &(struct le_claim){
            .rule = "compiling",
            .title = le_arena_format(arena, "The same kernels were compiled again %s times: %s",
                                     le_format_count(arena, again), le_format_time(arena, again_ns)),
            .evidence = le_arena_format(arena,
                                        "%s: %s modules, %s each; %s compiled again in total\n"
                                        "measured from the host's last call for the device to the end of "
                                        "loading the module%s\nassumed: one module per kernel is enough",
                                        kernel_of(input, most), le_format_count(arena, most->count),
                                        le_format_time(arena, most->time_ns / most->count),
                                        le_format_counted(arena, (uint64_t)kernels, "kernel was", "kernels were"),
                                        is_sure ? "" : "; assumed: the host compiled in that time"),
            .advice = LE_ADVICE_COMPILE,
            .gain_ns = again_ns,
            .confidence = is_sure ? LE_LIKELY : LE_PLAUSIBLE,
        });
}
