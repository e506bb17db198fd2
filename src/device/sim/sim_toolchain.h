/* The host's C++ compiler and what comes with it: found on PATH, run as a process of its own with its own folder. No
 * shell is between. */
#ifndef LE_SIM_TOOLCHAIN_H
#define LE_SIM_TOOLCHAIN_H
#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include <signal.h>

struct sim_words { /* of a command */
    const char **at;
    int count, capacity;
};
void le_sim_words_add(struct le_arena *arena, struct sim_words *words, const char *word);

/* Where a program is: on PATH, or as it is if it has a '/'; NULL: nowhere. */
const char *le_sim_program_path(struct le_arena *arena, const char *name);
/* LEAT_CXX, else CXX, else g++, c++, clang++: the words to start with, the first one a path. LEAT_UNSUPPORTED, with
 * what to install, where there is none. */
leat_status le_sim_toolchain_find(struct le_arena *arena, struct sim_words *command);
/* Runs it in folder (NULL: this one) with `input` as its standard input (-1: nothing), adding to output (may be NULL)
 * and errors (may be NULL) what it writes. exit_code: 128 + signal where it was ended by one. */
leat_status le_sim_process_run(struct le_arena *arena, const struct sim_words *command, const char *folder, int input,
                               struct le_text *output, struct le_text *errors, int *exit_code);

/* Signals that end the process wait from hold to release, in this thread, so that what is between leaves no folder
 * behind; the library's other threads take none. Programs that are run in between are ended by them as ever. */
void le_sim_signals_hold(sigset_t *before);
void le_sim_signals_release(const sigset_t *before);

/* A folder of our own for one compilation; removed with all that is in it. */
leat_status le_sim_folder_new(struct le_arena *arena, char **path);
void le_sim_folder_remove(const char *path);
/* Writes a file in it, making the folders that name has; a name that leaves the folder is LEAT_INVALID. */
leat_status le_sim_folder_write(const char *path, const char *name, const void *bytes, size_t size_bytes);
leat_status le_sim_folder_read(const char *path, const char *name, struct le_text *bytes);
#endif
