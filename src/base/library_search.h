/* Finds libraries and files of toolkits at run time, in the places of one table, and writes a log of the search. Users:
 * device/cuda (driver, NVRTC, cuBLAS, headers, tools), device/cpu/blas.c, and the recorder (CUPTI), which has its own
 * copy.
 *
 * Nothing is loaded from the working directory. A library that was loaded stays loaded. No state and no locks: any
 * thread. */
#ifndef LE_LIBRARY_SEARCH_H
#define LE_LIBRARY_SEARCH_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- results */

struct le_search_line {
    char name[40];     /* the place or the file: "LEAT_CUDA_PATH", "libnvrtc.so.13" */
    char path[256];    /* truncated to fit; "" for the dynamic loader's own search */
    char outcome[160]; /* "found, CUDA 13.0", "for CUDA 13, newer than the driver's 12" */
};
struct le_search { /* {0} keeps no log */
    bool found;
    int version;         /* in the format of the request's take; 0: unknown */
    char path[PATH_MAX]; /* absolute path of the result; "" if nothing was found */
    char reason[400];    /* why nothing was found, or why the last candidate was refused; "" if one was accepted */
    struct le_search_line *lines; /* the log */
    int line_count, line_capacity;
};
/* Adds a line to the log; path may be NULL. If the log is full, its last line says so. */
void le_search_log(struct le_search *search, const char *name, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- the dynamic loader */

/* dlopen with mode RTLD_LAZY or RTLD_NOW. A name without '/' is refused if the loader could load it from the working
 * directory, because LD_LIBRARY_PATH has an empty or relative element with such a file. On failure returns NULL and
 * writes the reason to why. */
void *le_library_load(const char *name, int mode, char *why, size_t size_bytes);
/* The absolute path of a loaded library; false if the loader does not know it. */
bool le_library_path(void *library, char path[PATH_MAX]);
/* The folder of the library that this code is part of; if it is linked statically, that of the command. */
bool le_library_own_folder(char folder[PATH_MAX]);
/* Loads soname from the folder of path, or of path with its links followed; else by soname. For libraries that another
 * library opens by soname and that the loader may not find. */
bool le_library_load_beside(const char *path, const char *soname);

/* ---- tables of symbols */

enum le_library_need { OPTIONAL, REQUIRED };
struct le_library_symbol {
    const char *name;
    size_t offset; /* of its member in the table */
    enum le_library_need need;
    int version; /* for le_library_find */
};
typedef void *le_library_find(void *user, const struct le_library_symbol *symbol);
le_library_find le_library_dlsym; /* user: the library's handle */
/* Fills the members of a table; missing optional symbols become NULL. Returns the first required symbol that is
 * missing, or NULL if there is none. */
const struct le_library_symbol *le_library_fill(const struct le_library_symbol *symbols, size_t count,
                                                le_library_find *find, void *user, void *table);

/* ---- places */

enum le_search_place {
    LE_SEARCH_END,            /* ends a list of places */
    LE_SEARCH_LOADED,         /* libraries that the process has already loaded */
    LE_SEARCH_BESIDE_LOADED,  /* the site-packages/nvidia folder of a loaded library */
    LE_SEARCH_LOADER,         /* by name, as the dynamic loader finds it */
    LE_SEARCH_LEAT_CUDA_PATH, /* this and the next: the variable's folder, if absolute */
    LE_SEARCH_CUDA_PATH,
    LE_SEARCH_LOCAL,       /* /usr/local/cuda, then /usr/local/cuda-*, newest first */
    LE_SEARCH_OWN,         /* the wheels in the Python environment that Leat itself is installed in */
    LE_SEARCH_VIRTUAL_ENV, /* this and the next: the environment's site-packages/nvidia folders (wheels), then its own
                              folder */
    LE_SEARCH_CONDA_PREFIX
};
struct le_search_request {
    const char *what;         /* for the log: "libnvrtc.so.12 to .13" */
    const char *const *names; /* of files, best first; NULL ends the list */
    const char *const *below; /* subfolders to look in, best first; NULL ends the list */
    int major_max;            /* libraries with a higher major version in their name are refused; 0: no limit */
    bool load;                /* candidates are libraries, which are loaded before take is called */
    /* Finds the path of a name as the dynamic loader would. Used for LE_SEARCH_LOADER without load. */
    bool (*locate)(const char *name, char path[PATH_MAX]);
    /* Accepts or refuses a candidate; accepting one (true) ends the search. Writes the search's result or the reason
     * for refusing it, and a line of the log. name: the place's or, for the loader, the file's. library: NULL without
     * load. */
    bool (*take)(void *user, struct le_search *search, const char *name, const char *path, void *library);
    void *user;
};
/* Offers all candidates in these places to take, until it accepts one; false if it accepts none. */
bool le_search_run(struct le_search *search, const struct le_search_request *request,
                   const enum le_search_place *places);
/* The same in one folder. */
bool le_search_folder(struct le_search *search, const struct le_search_request *request, const char *name,
                      const char *folder);
#endif
