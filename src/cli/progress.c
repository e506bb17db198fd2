/* See progress.h. The mutex guards all of the bar, and the terminal while a message is written. */
#include "cli/progress.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 30, PATIENCE_MS = 1000, REDRAW_MS = 200 };

struct le_cli_progress {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stop, drawn;
    const char *what;
    uint64_t start_ns, done, total;
};

static void erase_bar(struct le_cli_progress *bar) {
    if (bar->drawn)
        fputs("\r\033[K", stderr);
    bar->drawn = false;
}

static void draw_bar(struct le_cli_progress *bar) {
    double seconds = (double)(le_cli_clock_ns() - bar->start_ns) * 1e-9;
    char cells[BAR_CELLS + 1];
    erase_bar(bar);
    if (bar->total) {
        int full = (int)((double)bar->done / (double)bar->total * BAR_CELLS);
        for (int k = 0; k < BAR_CELLS; k++)
            cells[k] = k < full ? '#' : '.';
        cells[BAR_CELLS] = '\0';
        fprintf(stderr, "[%s] %llu of %llu, ", cells, (unsigned long long)bar->done, (unsigned long long)bar->total);
    }
    fprintf(stderr, "%.40s, %.1f s", bar->what, seconds);
    fflush(stderr);
    bar->drawn = true;
}

static void *run_bar(void *user) {
    struct le_cli_progress *bar = user;
    pthread_mutex_lock(&bar->mutex);
    int64_t wait_ms = PATIENCE_MS;
    while (!bar->stop) {
        uint64_t until_ns = le_cli_clock_ns() + (uint64_t)wait_ms * 1000000u;
        struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u), .tv_nsec = (long)(until_ns % 1000000000u)};
        int timed_out = pthread_cond_timedwait(&bar->wake, &bar->mutex, &until);
        wait_ms = REDRAW_MS;
        if (timed_out && !bar->stop)
            draw_bar(bar);
    }
    erase_bar(bar);
    pthread_mutex_unlock(&bar->mutex);
    return NULL;
}

static bool start_thread(struct le_cli_progress *bar) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&bar->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&bar->mutex, NULL);
    sigset_t all, before; /* only the main thread receives signals */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&bar->thread, NULL, run_bar, bar) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void le_cli_progress_start(struct le_cli *cli) {
    const char *terminal = getenv("TERM");
    if (cli->progress || !isatty(STDERR_FILENO) || !terminal || strcmp(terminal, "dumb") == 0)
        return;
    struct le_cli_progress *bar = calloc(1, sizeof *bar);
    if (!bar)
        return;
    bar->start_ns = cli->start_ns;
    bar->what = "starting";
    if (start_thread(bar))
        cli->progress = bar;
    else
        free(bar);
}

void le_cli_progress_set(struct le_cli *cli, const char *what, uint64_t done, uint64_t total) {
    struct le_cli_progress *bar = cli->progress;
    if (!bar)
        return;
    pthread_mutex_lock(&bar->mutex);
    bar->what = what;
    bar->done = done;
    bar->total = total;
    pthread_mutex_unlock(&bar->mutex);
}

void le_cli_progress_hide(struct le_cli *cli) {
    if (!cli->progress)
        return;
    pthread_mutex_lock(&cli->progress->mutex);
    erase_bar(cli->progress);
}

void le_cli_progress_unhide(struct le_cli *cli) {
    if (cli->progress)
        pthread_mutex_unlock(&cli->progress->mutex);
}

void le_cli_progress_stop(struct le_cli *cli) {
    struct le_cli_progress *bar = cli->progress;
    if (!bar)
        return;
    pthread_mutex_lock(&bar->mutex);
    bar->stop = true;
    pthread_cond_signal(&bar->wake);
    pthread_mutex_unlock(&bar->mutex);
    pthread_join(bar->thread, NULL);
    pthread_cond_destroy(&bar->wake);
    pthread_mutex_destroy(&bar->mutex);
    free(bar);
    cli->progress = NULL;
}
