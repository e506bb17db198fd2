/* What the searches of door*.c share: telling what was looked for, and the places where a toolkit may be. Not for
 * others: they use door.h. */
#ifndef LE_CUDA_DOOR_SEARCH_H
#define LE_CUDA_DOOR_SEARCH_H
#include "device/cuda/door.h"
#include <limits.h>

enum { LE_CUDA_MAJOR_MIN = LE_CUDA_VERSION_MIN / 1000, LE_CUDA_MAJOR_MAX = 19 }; /* sonames that are tried */

enum le_door_need { OPTIONAL, REQUIRED }; /* a symbol, of a library */

/* Adds a line; path may be NULL. Where there is no more room the last line says so. */
void le_door_tell(struct le_door_search *search, const char *name, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "CUDA 12.4" */
const char *le_door_version_text(int version, char text[24]);
/* The version of a usable driver, by its library alone, without cuInit; 0: there is none. */
int le_door_driver_version(void);

/* The absolute path of a library that is loaded; false where the loader does not tell one. */
bool le_door_loaded_path(void *library, char path[PATH_MAX]);
/* dlopen by name, unless the loader could take it from the working directory: LD_LIBRARY_PATH has an element that is
 * empty or relative, and such a file lies there. NULL: *why says why. */
void *le_door_load(const char *soname, char *why, size_t size_bytes);

/* A place: calls look(user, folder) for the folders that may be there, in order, until it gives true, which it gives
 * back. name: how the place is told in lines. */
typedef bool le_door_look(void *user, const char *name, const char *folder);
/* The value of an environment variable that names a folder: unset, empty and relative ones are told and not looked
 * at. */
const char *le_door_variable(struct le_door_search *search, const char *variable);
/* /usr/local/cuda, then /usr/local/cuda-*, newest first. */
bool le_door_local(le_door_look *look, void *user);
/* The site-packages/nvidia folders of $VIRTUAL_ENV and $CONDA_PREFIX. */
bool le_door_wheels(struct le_door_search *search, le_door_look *look, void *user);

/* A library with a CUDA major in its soname, looked for in all places. take(user, search, name, path, library): is this
 * one good? It tells so itself. library: its handle where the loader has opened it by then, else NULL. */
struct le_door_library {
    const char *stem;  /* "libnvrtc" */
    const char *wheel; /* its folder in site-packages/nvidia: "cuda_nvrtc" */
    int driver_major;  /* 0: any will do */
    bool load;         /* by soname, through the loader; else it is located only */
    bool (*take)(void *user, struct le_door_search *search, const char *name, const char *path, void *library);
    void *user;
};
/* *loaded: it is one that the process had loaded before. */
bool le_door_find_library(struct le_door_search *search, const struct le_door_library *library, bool *loaded);
/* Where the dynamic loader would find soname, without loading it: LD_LIBRARY_PATH, its cache, its own folders. */
bool le_door_locate(const char *soname, char path[PATH_MAX]);

/* The searches, each made once by le_cuda_door_search. */
const struct le_door_search *le_door_search_driver(void);
const struct le_door_search *le_door_search_nvrtc(void);
const struct le_door_search *le_door_search_cublas(void);
const struct le_door_search *le_door_search_headers(void);
/* NVRTC was loaded before Leat looked for it. After le_door_search_nvrtc. */
bool le_door_nvrtc_was_loaded(void);
#endif
