/* `leat cache`: shows or clears the cache of compiled code on disk. */
#include "cli/command_line.h"
#include "cli/json.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SIZE_CHARS = 24, AGE_CHARS = 24 };

static const char *size_text(uint64_t size_bytes, char *text) {
    static const char *const UNITS[] = {"KiB", "MiB", "GiB", "TiB"};
    double size = (double)size_bytes / 1024;
    size_t unit = 0;
    for (; size >= 999.95 && unit + 1 < sizeof UNITS / sizeof UNITS[0]; unit++)
        size /= 1024;
    if (size_bytes < 1024)
        snprintf(text, SIZE_CHARS, "%u B", (unsigned)size_bytes);
    else
        snprintf(text, SIZE_CHARS, "%.1f %s", size, UNITS[unit]);
    return text;
}

static int64_t age_s(int64_t since_s) {
    int64_t now_s = (int64_t)time(NULL);
    return now_s > since_s ? now_s - since_s : 0;
}

static const char *age_text(int64_t since_s, char *text) {
    int64_t age = age_s(since_s);
    if (age < 120)
        snprintf(text, AGE_CHARS, "%lld s", (long long)age);
    else if (age < 7200)
        snprintf(text, AGE_CHARS, "%lld min", (long long)age / 60);
    else if (age < 172800)
        snprintf(text, AGE_CHARS, "%lld h", (long long)age / 3600);
    else
        snprintf(text, AGE_CHARS, "%lld d", (long long)age / 86400);
    return text;
}

static void entry_json(struct le_json *json, const char *name, const leat_cache_entry *entry) {
    le_json_open(json, name, '{');
    le_json_string(json, "label", entry->label);
    le_json_count(json, "size_bytes", entry->size_bytes);
    le_json_count(json, "uses", entry->uses);
    le_json_integer(json, "made_s", entry->made_s);
    le_json_integer(json, "used_s", entry->used_s);
    le_json_close(json, '}');
}

static void print_stat(const leat_cache_info *info, const leat_cache_entry *next) {
    char size[SIZE_CHARS], cap[SIZE_CHARS], age[AGE_CHARS];
    printf("folder     %s\n", info->folder);
    printf("entries    %zu\n", info->count);
    printf("size       %s of at most %s\n", size_text(info->size_bytes, size), size_text(info->cap_bytes, cap));
    if (next)
        printf("evict next %s (%s, last used %s ago)\n", next->label, size_text(next->size_bytes, size),
               age_text(next->used_s, age));
}

static int run_stat(struct le_cli *cli, struct le_json *json) {
    leat_cache_info info;
    leat_cache_entry *entries = NULL;
    size_t count = 0;
    int code = le_cli_library_error(cli, leat_cache_stat(cli->ctx, &info));
    if (!code)
        code = le_cli_library_error(cli, leat_cache_list(cli->ctx, &entries, &count));
    if (code)
        return code;
    const leat_cache_entry *next = count ? entries : NULL;
    if (cli->json) {
        le_json_string(json, "folder", info.folder);
        le_json_count(json, "count", info.count);
        le_json_count(json, "size_bytes", info.size_bytes);
        le_json_count(json, "cap_bytes", info.cap_bytes);
        if (next)
            entry_json(json, "next", next);
        else
            le_json_null(json, "next");
    } else {
        print_stat(&info, next);
    }
    leat_memory_free(entries);
    return LE_EXIT_OK;
}

static void print_list(const leat_cache_entry *entries, size_t count) {
    if (count)
        printf("%10s  %9s  %9s  %6s  %s\n", "size", "last used", "made", "uses",
               "compiled from (the next to be evicted first)");
    for (size_t k = 0; k < count; k++) {
        const leat_cache_entry *entry = &entries[k];
        char size[SIZE_CHARS], used[AGE_CHARS], made[AGE_CHARS];
        printf("%10s  %9s  %9s  %6llu  %s\n", size_text(entry->size_bytes, size), age_text(entry->used_s, used),
               age_text(entry->made_s, made), (unsigned long long)entry->uses, entry->label);
    }
}

static int run_list(struct le_cli *cli, struct le_json *json) {
    leat_cache_entry *entries = NULL;
    size_t count = 0;
    int code = le_cli_library_error(cli, leat_cache_list(cli->ctx, &entries, &count));
    if (code)
        return code;
    if (cli->json) {
        le_json_open(json, "entries", '[');
        for (size_t k = 0; k < count; k++)
            entry_json(json, NULL, &entries[k]);
        le_json_close(json, ']');
    } else {
        print_list(entries, count);
    }
    leat_memory_free(entries);
    return LE_EXIT_OK;
}

static int run_clear(struct le_cli *cli, struct le_json *json) {
    leat_cache_info removed;
    int code = le_cli_library_error(cli, leat_cache_clear(cli->ctx, &removed));
    if (code)
        return code;
    if (cli->json) {
        le_json_string(json, "folder", removed.folder);
        le_json_count(json, "count", removed.count);
        le_json_count(json, "size_bytes", removed.size_bytes);
    } else {
        char size[SIZE_CHARS];
        const char *noun = removed.count == 1 ? "entry" : "entries";
        printf("removed %zu %s, %s, from %s\n", removed.count, noun, size_text(removed.size_bytes, size),
               removed.folder);
    }
    return LE_EXIT_OK;
}

static const struct action {
    const char *name;
    int (*run)(struct le_cli *cli, struct le_json *json);
} ACTIONS[] = {{"stat", run_stat}, {"list", run_list}, {"clear", run_clear}};

/* Takes the first word that is not an option out of the arguments. */
static const char *take_word(int *argc, char **argv) {
    for (int k = 0; k < *argc; k++) {
        if (argv[k][0] == '-')
            continue;
        const char *word = argv[k];
        memmove(&argv[k], &argv[k + 1], (size_t)(*argc - k - 1) * sizeof *argv);
        --*argc;
        return word;
    }
    return NULL;
}

static int find_action(struct le_cli *cli, const char *word, const struct action **action) {
    for (size_t k = 0; word && k < sizeof ACTIONS / sizeof ACTIONS[0]; k++) {
        if (strcmp(ACTIONS[k].name, word) != 0)
            continue;
        *action = &ACTIONS[k];
        return LE_EXIT_OK;
    }
    return word ? le_cli_usage(cli, "unknown action %s: must be stat, list or clear", word)
                : le_cli_usage(cli, "missing action: stat, list or clear");
}

static void on_log(leat_log_level level, const char *text, void *user) {
    (void)level;
    le_cli_note(user, text);
}

static int open_library(struct le_cli *cli) {
    const leat_options options = {.device = "cpu", .simd = "baseline", .threads = 1, .log = on_log, .log_user = cli};
    return le_cli_library_error(cli, leat_open(&options, &cli->ctx));
}

int le_command_cache(struct le_cli *cli, int argc, char **argv) {
    struct le_cli_line line;
    struct le_json json = {.file = stdout};
    const struct action *action = NULL;
    const char *word = take_word(&argc, argv);
    int code = le_cli_line_parse(cli, 0, argc, argv, &line);
    bool help = line.help;
    le_cli_line_free(&line);
    if (!code && help) {
        le_cli_help("cache");
        return code;
    }
    if (!code)
        code = find_action(cli, word, &action);
    if (!code)
        code = open_library(cli);
    if (cli->json) {
        le_json_open(&json, NULL, '{');
        le_json_integer(&json, "schema", LE_JSON_SCHEMA);
    }
    if (!code)
        code = action->run(cli, &json);
    if (cli->json) {
        le_json_messages(&json, cli);
        le_json_close(&json, '}');
        fputc('\n', stdout);
    }
    return code;
}
