/* Messages: printed on stderr at once, and stored for --json. */
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MESSAGES_MAX = 1000 }; /* further messages are printed but not stored */

uint64_t le_cli_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int exit_code(leat_status status) {
    switch (status) {
    case LEAT_OK:
        return LE_EXIT_OK;
    case LEAT_PROGRAM:
    case LEAT_MISMATCH:
    case LEAT_UNSUPPORTED:
        return LE_EXIT_PROGRAM;
    case LEAT_INVALID:
    case LEAT_MISSING:
        return LE_EXIT_USAGE;
    case LEAT_FILE:
        return LE_EXIT_FILE;
    case LEAT_DEVICE:
        return LE_EXIT_DEVICE;
    case LEAT_OUT_OF_MEMORY:
        return LE_EXIT_MEMORY;
    case LEAT_DATA:
        return LE_EXIT_DATA;
    case LEAT_CANCELED:
        return le_cli_interrupt_status() ? le_cli_interrupt_status() : LE_EXIT_FAULT;
    case LEAT_INTERNAL:
        break;
    }
    return LE_EXIT_FAULT;
}

/* A message that cannot be stored for lack of memory has already been printed. */
static void store_message(struct le_cli_messages *list, const leat_error *error) {
    if (list->count >= MESSAGES_MAX)
        return;
    struct le_cli_message *items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (!items)
        return;
    list->items = items;
    items[list->count] = (struct le_cli_message){.code = error->code,
                                                 .line = error->line,
                                                 .column = error->column,
                                                 .span = error->span,
                                                 .message = strdup(error->message),
                                                 .expected = strdup(error->expected)};
    if (items[list->count].message && items[list->count].expected) {
        list->count++;
        return;
    }
    free(items[list->count].message);
    free(items[list->count].expected);
}

static void print_message(struct le_cli *cli, const char *kind, const char *text) {
    le_cli_progress_hide(cli);
    const char *color = *kind ? "\033[1;33m" : "\033[1;31m";
    fprintf(stderr, "%sleat:%s %s%s", cli->color ? color : "", cli->color ? "\033[0m" : "", kind, text);
    size_t length = strlen(text);
    if (length == 0 || text[length - 1] != '\n')
        fputc('\n', stderr);
    le_cli_progress_unhide(cli);
}

/* Prints one line: what is wrong and, if that is known, what to do instead. Stores both. */
static int report_error(struct le_cli *cli, const leat_error *error) {
    char *text = NULL;
    store_message(&cli->errors, error);
    if (!*error->expected || asprintf(&text, "%s; %s", error->message, error->expected) < 0)
        text = NULL;
    print_message(cli, "", text ? text : error->message);
    free(text);
    return exit_code(error->code);
}

static int fail_text(struct le_cli *cli, leat_status code, const char *text) {
    return report_error(cli, &(leat_error){.code = code, .message = text, .expected = ""});
}

static int fail_arguments(struct le_cli *cli, leat_status code, const char *expected, const char *format,
                          va_list arguments) {
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        return fail_text(cli, LEAT_OUT_OF_MEMORY, "out of memory");
    int result = report_error(cli, &(leat_error){.code = code, .message = text, .expected = expected});
    free(text);
    return result;
}

int le_cli_fail(struct le_cli *cli, leat_status code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = fail_arguments(cli, code, "", format, arguments);
    va_end(arguments);
    return result;
}

int le_cli_fail_with(struct le_cli *cli, leat_status code, const char *expected, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = fail_arguments(cli, code, expected, format, arguments);
    va_end(arguments);
    return result;
}

int le_cli_fail_file(struct le_cli *cli, const char *verb, const char *path, int number) {
    bool no_folder = number == ENOENT && strcmp(verb, "write") == 0; /* writing creates the file itself */
    return le_cli_fail(cli, LEAT_FILE, "cannot %s %s: %s", verb, path,
                       no_folder ? "the folder does not exist" : strerror(number));
}

int le_cli_usage(struct le_cli *cli, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_arguments(cli, LEAT_INVALID, "", format, arguments);
    va_end(arguments);
    const char *space = cli->command ? " " : "";
    fprintf(stderr, "try: leat%s%s --help\n", space, cli->command ? cli->command : "");
    return LE_EXIT_USAGE;
}

/* Prints a report of sim's checks as a paragraph. Its lines are joined by semicolons. */
static void print_report(struct le_cli *cli, const char *message) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    for (const char *at = message, *next; file && at; at = next) {
        next = strstr(at, "; ");
        fprintf(file, "%s%.*s", at == message ? "" : "\n    ", next ? (int)(next - at) : (int)strlen(at), at);
        next = next ? next + 2 : NULL;
    }
    bool made = file && fclose(file) == 0;
    print_message(cli, "", made ? text : message);
    free(text);
}

int le_cli_library_error(struct le_cli *cli, leat_status status) {
    if (status == LEAT_OK)
        return LE_EXIT_OK;
    leat_error error = {0};
    leat_error_get(cli->ctx, &error);
    if (error.code != status || !error.message)
        return fail_text(cli, status, leat_status_name(status));
    if (status == LEAT_CANCELED) { /* who sent the signal needs no message */
        store_message(&cli->errors, &error);
        return exit_code(status);
    }
    size_t count = 0;
    leat_error_count(cli->ctx, &count);
    bool is_report = status == LEAT_DATA && error.line == 0;
    if (error.line == 0 && count == 1 && !is_report)
        return report_error(cli, &error);
    if (!is_report)
        print_message(cli, "", leat_error_text(cli->ctx));
    for (size_t k = 0; k < count; k++) {
        leat_error one;
        if (leat_error_at(cli->ctx, k, &one))
            continue;
        store_message(&cli->errors, &one);
        if (is_report)
            print_report(cli, one.message);
    }
    return exit_code(status);
}

static bool is_noted(const struct le_cli *cli, const char *text) {
    for (size_t k = 0; k < cli->notes.count; k++)
        if (strcmp(cli->notes.items[k].message, text) == 0)
            return true;
    return false;
}

void le_cli_note_for_json(struct le_cli *cli, const char *text) {
    leat_error note = {.message = text, .expected = ""};
    store_message(&cli->notes, &note);
}

/* Each run of --repeat gives the same notes, so a note that was printed is skipped. */
void le_cli_note(struct le_cli *cli, const char *text) {
    if (is_noted(cli, text))
        return;
    le_cli_note_for_json(cli, text);
    print_message(cli, "note: ", text);
}

static void messages_free(struct le_cli_messages *list) {
    for (size_t k = 0; k < list->count; k++) {
        free(list->items[k].message);
        free(list->items[k].expected);
    }
    free(list->items);
    *list = (struct le_cli_messages){0};
}

void le_cli_messages_free(struct le_cli *cli) {
    messages_free(&cli->errors);
    messages_free(&cli->notes);
}

void le_cli_cost_begin(struct le_cli *cli, leat_cost_kind kind, const char *what) {
    if (cli->explain)
        leat_ledger_begin(cli->ctx, kind, what);
}

void le_cli_cost_end(struct le_cli *cli, uint64_t bytes) {
    if (cli->explain)
        leat_ledger_end(cli->ctx, bytes);
}
