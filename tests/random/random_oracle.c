/* Compares random programs with an oracle that evaluates them with plain loops. They run on one thread, on two with the
 * baseline's instructions, on seven without memory kept for reuse, and on sim, interpreted and compiled; with all
 * results and with some of them requested. Programs run in a child process, so that a crash or a hang is a finding as
 * well.
 *
 * usage: random_oracle [--sim EVERY] [--interpret EVERY] COUNT [FIRST_SEED]
 *        random_oracle show SEED | reduce SEED
 * A finding prints its seed, program and difference; `random_oracle 1 SEED` repeats it, `reduce SEED` makes it small.
 */
#include "program_make.h"
#include "reducer.h"
#include "trial.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAYS = 6, INTERPRETED = 4, SIM = 5, SECONDS = 10, SIM_SECONDS = 200, TRY_NEXT = TOO_LARGE };

static const struct way ways[WAYS] = {
    {.name = "on one thread", .options = {.threads = 1}},
    {.name = "on two threads, baseline", .options = {.threads = 2, .simd = "baseline"}, .takes_some = true},
    {.name = "on seven threads, nothing kept",
     .options = {.threads = 7, .cache_cap_bytes = 1},
     .takes_some = true,
     .runs_twice = true},
    {.name = "into given arrays", .options = {.threads = 2}, .gives_arrays = true},
    {.name = "on sim, interpreted",
     .options = {.device = "sim", .interpret = LEAT_INTERPRET_ONLY, .keep_code = true, .sim_check = true}},
    {.name = "on sim", .options = {.device = "sim", .sim_check = true}}};

struct session {
    uint64_t first, count, every[WAYS];
    leat_context *contexts[WAYS];
};

/* Memory that the child shares with its parent. */
struct shared {
    uint64_t seed, ran, failed, findings;
    int way;
    bool may_run_for_ever; /* the oracle stopped at an error, so it did not see whether the loops end */
    enum finding finding;
    char words[sizeof((struct trial *)0)->words];
};

static struct source source;
static struct oracle oracle;
static struct text text;
static struct shared *shared;

static leat_context *context_of(struct session *s, int way) {
    leat_options options = ways[way].options;
    if (!options.device)
        options.device = "cpu";
    if (!s->contexts[way] && leat_open(&options, &s->contexts[way])) {
        fprintf(stderr, "%s: %s\n", ways[way].name, leat_error_text(NULL));
        exit(3);
    }
    return s->contexts[way];
}

/* ---- findings */

static const char *finding_name(enum finding finding) {
    static const char *const names[] = {"agrees",      "wrong value",   "wrong type or shape", "other bits",
                                        "false error", "missing error", "crash or hang"};
    return names[finding];
}

static void print_finding(uint64_t seed) {
    make_program(&source, &oracle, seed);
    print_program(&text, &source);
    printf("seed %llu: %s %s: %s\n%s", (unsigned long long)seed, finding_name(shared->finding), ways[shared->way].name,
           shared->words, text.bytes);
    fflush(stdout);
}

static bool is_due(const struct session *s, int way, uint64_t seed) {
    return s->every[way] && seed % s->every[way] == 0;
}

/* Tries the program in `source` in all ways that this seed requires. */
static enum finding try_program(struct session *s, uint64_t seed) {
    static struct trial trial;
    trial = (struct trial){.source = &source, .oracle = &oracle, .text = &text};
    print_program(&text, &source);
    enum verdict decoy = oracle_run(&oracle, &source, true);
    trial.has_decoy = decoy != UNSUITABLE; /* with other inputs some programs would run for ever */
    shared->may_run_for_ever = oracle_run(&oracle, &source, false) != RUNS || decoy != RUNS;
    enum finding finding = AGREES;
    for (int way = 0; way < WAYS && finding == AGREES; way++) {
        if (!is_due(s, way, seed))
            continue;
        shared->way = way;
        alarm(way < INTERPRETED ? SECONDS : SIM_SECONDS);
        finding = try_way(&trial, &ways[way], context_of(s, way));
    }
    alarm(0);
    memcpy(shared->words, trial.words, sizeof shared->words);
    return shared->finding = finding;
}

/* ---- children */

static void run_seeds(struct session *s) {
    for (; s->count; s->first++, s->count--) {
        shared->seed = s->first;
        shared->way = 0;
        shared->may_run_for_ever = false;
        alarm(SECONDS);
        make_program(&source, &oracle, s->first);
        if (oracle.verdict == UNSUITABLE || !source.body)
            continue;
        shared->ran++;
        shared->failed += oracle.verdict != RUNS;
        if (try_program(s, s->first) == AGREES)
            continue;
        shared->findings++;
        print_finding(s->first);
        if (shared->way >= INTERPRETED) /* sim's device keeps an error */
            exit(TRY_NEXT);
    }
    for (int way = 0; way < WAYS; way++)
        leat_close(s->contexts[way]);
    exit(0);
}

static int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        ;
    return status;
}

static pid_t start_child(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(3);
    }
    return child;
}

static void print_crash(int status) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM && shared->may_run_for_ever)
        return;
    shared->finding = CRASH;
    shared->findings++;
    snprintf(shared->words, sizeof shared->words, "signal %d, exit status %d", WTERMSIG(status), WEXITSTATUS(status));
    print_finding(shared->seed);
}

static void run_children(struct session *s) {
    while (s->count) {
        pid_t child = start_child();
        if (child == 0)
            run_seeds(s);
        int status = wait_for(child);
        if (status == 0)
            return;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
            exit(3);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != TRY_NEXT)
            print_crash(status);
        s->count -= shared->seed + 1 - s->first;
        s->first = shared->seed + 1;
    }
}

/* ---- reducing */

static struct session *reduced_session;

/* Whether the edited program in `source` still has the same finding. */
static bool still_fails(void) {
    static char words[sizeof shared->words];
    static enum finding finding;
    static int way;
    bool is_first = finding == AGREES;
    if (oracle_run(&oracle, &source, false) == UNSUITABLE)
        return false;
    shared->finding = CRASH;
    memset(shared->words, 0, sizeof shared->words);
    pid_t child = start_child();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            exit(3);
        try_program(reduced_session, source.seed);
        exit(0);
    }
    wait_for(child);
    if (is_first) {
        finding = shared->finding;
        way = shared->way;
        memcpy(words, shared->words, sizeof words);
        for (int k = 0; k < WAYS; k++)
            reduced_session->every[k] *= k == way || (finding == OTHER_BITS && k == 0);
        return finding != AGREES;
    }
    return shared->finding == finding && shared->way == way &&
           (finding == CRASH || finding == WRONG_VALUE || same_words(words, shared->words));
}

static int reduce_seed(struct session *s, uint64_t seed) {
    make_program(&source, &oracle, seed);
    reduced_session = s;
    s->first = seed;
    if (!still_fails()) {
        printf("seed %llu: nothing is found\n", (unsigned long long)seed);
        return 0;
    }
    reduce_program(&source, still_fails);
    still_fails();
    oracle_run(&oracle, &source, false);
    print_program(&text, &source);
    printf("seed %llu: %s %s: %s\n%s", (unsigned long long)seed, finding_name(shared->finding), ways[shared->way].name,
           shared->words, text.bytes);
    print_inputs(&source);
    return 1;
}

/* ---- the command */

static int show_seed(uint64_t seed) {
    static const char *const verdicts[] = {"runs", "fails before it runs", "fails as it runs", "is not suitable"};
    make_program(&source, &oracle, seed);
    print_program(&text, &source);
    printf("%s# %s %s\n", text.bytes, verdicts[oracle.verdict], oracle.why);
    print_inputs(&source);
    return 0;
}

static int usage(void) {
    fprintf(stderr, "usage: random_oracle [--sim EVERY] [--interpret EVERY] COUNT [FIRST_SEED]\n"
                    "       random_oracle show SEED | reduce SEED\n");
    return 2;
}

int main(int count, char **arguments) {
    struct session s = {.first = 1, .every = {1, 1, 1, 1, 0, 0}};
    char **rest = arguments + 1, **end = arguments + count;
    for (; rest + 1 < end && !strncmp(*rest, "--", 2); rest += 2)
        s.every[!strcmp(*rest, "--sim") ? SIM : INTERPRETED] = strtoull(rest[1], NULL, 10);
    if (rest == end || end - rest > 2)
        return usage();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 3;
    if (!strcmp(*rest, "show") || !strcmp(*rest, "reduce")) {
        if (end - rest != 2)
            return usage();
        uint64_t seed = strtoull(rest[1], NULL, 10);
        return **rest == 's' ? show_seed(seed) : reduce_seed(&s, seed);
    }
    s.count = strtoull(rest[0], NULL, 10);
    if (end - rest == 2)
        s.first = strtoull(rest[1], NULL, 10);
    uint64_t asked = s.count;
    run_children(&s);
    printf("%llu of %llu programs ran, %llu of them into an error; %llu findings\n", (unsigned long long)shared->ran,
           (unsigned long long)asked, (unsigned long long)shared->failed, (unsigned long long)shared->findings);
    return shared->findings || (asked >= 100 && shared->ran * 10 < asked * 7);
}
