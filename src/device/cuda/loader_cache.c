/* Finds the file that the dynamic loader would load for a library, without loading it: in LD_LIBRARY_PATH, the loader's
 * cache, and its default folders. The result is only a hint for users; nothing is opened by it. Reads glibc's cache
 * (/etc/ld.so.cache, format 1.1); with another C library, or without a cache, only the folders are searched. */
#include "device/cuda/toolkit_search.h"
#include "base/environment.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE "/etc/ld.so.cache"

struct cache_header {
    char magic[20]; /* glibc-ld.so.cache1.1 */
    uint32_t count, strings_bytes;
    uint8_t flags, padding[3];
    uint32_t extension_offset, unused[3];
};
struct cache_entry {
    int32_t flags;
    uint32_t name, path; /* offsets of strings, from the start of the header */
    uint32_t system;
    uint64_t processor;
};

/* NULL: the string, with its NUL, is not inside the cache. */
static const char *cache_string(const char *cache, size_t size_bytes, uint32_t offset) {
    return offset < size_bytes && memchr(cache + offset, 0, size_bytes - offset) ? cache + offset : NULL;
}

static bool find_in_cache(const char *cache, size_t size_bytes, const char *soname, char path[PATH_MAX]) {
    struct cache_header header;
    if (size_bytes < sizeof header)
        return false;
    memcpy(&header, cache, sizeof header);
    if (memcmp(header.magic, "glibc-ld.so.cache1.1", sizeof header.magic) != 0 ||
        header.count > (size_bytes - sizeof header) / sizeof(struct cache_entry))
        return false;
    for (uint32_t k = 0; k < header.count; k++) {
        struct cache_entry entry;
        memcpy(&entry, cache + sizeof header + k * sizeof entry, sizeof entry);
        const char *name = cache_string(cache, size_bytes, entry.name);
        const char *found = cache_string(cache, size_bytes, entry.path);
        if (name && found && found[0] == '/' && strcmp(name, soname) == 0 && access(found, F_OK) == 0)
            return snprintf(path, PATH_MAX, "%s", found) < PATH_MAX;
    }
    return false;
}

static bool look_in_cache(const char *soname, char path[PATH_MAX]) {
    struct stat about;
    bool found = false;
    int file = open(CACHE, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (fstat(file, &about) == 0 && about.st_size > 0) {
        size_t size_bytes = (size_t)about.st_size;
        char *cache = mmap(NULL, size_bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (cache != MAP_FAILED) {
            found = find_in_cache(cache, size_bytes, soname, path);
            munmap(cache, size_bytes);
        }
    }
    close(file);
    return found;
}

static bool look_in_list(const char *folders, const char *soname, char path[PATH_MAX]) {
    for (size_t length; folders; folders = folders[length] ? folders + length + 1 : NULL) {
        length = strcspn(folders, ":;");
        if (folders[0] == '/' && length < PATH_MAX &&
            snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folders, soname) < PATH_MAX && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

bool le_loader_cache_find(const char *soname, char path[PATH_MAX]) {
    return look_in_list(le_environment_get("LD_LIBRARY_PATH"), soname, path) || look_in_cache(soname, path) ||
           look_in_list("/lib64:/usr/lib64:/lib:/usr/lib", soname, path);
}
