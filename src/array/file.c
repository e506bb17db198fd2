/* See file.h. */
#include "array/file.h"
#include "base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define POPULATE_MAX_BYTES ((size_t)1 << 30)
#define FIRST_BYTES        ((size_t)64 << 10) /* first buffer for a stream of unknown size; doubled as needed */

/* ---- open */

static leat_status read_head(struct le_file_in *in) {
    struct stat about;
    if (fstat(in->fd, &about) < 0)
        return le_fail_file("read", in->name, errno);
    if (S_ISDIR(about.st_mode))
        return le_fail(LEAT_FILE, "%s: is a folder", in->name);
    off_t at = S_ISREG(about.st_mode) ? lseek(in->fd, 0, SEEK_CUR) : -1;
    in->has_size = at >= 0 && about.st_size > 0; /* files in /proc report size 0 */
    in->size_bytes = in->has_size && about.st_size > at ? (size_t)(about.st_size - at) : 0;
    return le_file_in_read(in, in->head, sizeof in->head, &in->head_bytes);
}

leat_status le_file_in_start(int fd, const char *name, struct le_file_in *in) {
    *in = (struct le_file_in){.name = name, .fd = fd};
    return read_head(in);
}

leat_status le_file_in_open(const char *path, struct le_file_in *in) {
    *in = (struct le_file_in){.name = path, .fd = open(path, O_RDONLY | O_CLOEXEC), .is_opened = true};
    if (in->fd < 0)
        return le_fail_file("open", path, errno);
    leat_status status = read_head(in);
    if (status)
        close(in->fd);
    return status;
}

void le_file_in_finish(struct le_file_in *in) {
    if (in->is_opened)
        close(in->fd);
}

/* ---- read */

leat_status le_file_in_read(const struct le_file_in *in, void *target, size_t size_bytes, size_t *got) {
    uint8_t *at = target;
    *got = 0;
    while (*got < size_bytes) {
        ssize_t more = read(in->fd, at + *got, size_bytes - *got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return le_fail_file("read", in->name, errno);
        if (more == 0)
            break;
        *got += (size_t)more;
    }
    return LEAT_OK;
}

static leat_status fail_memory(const char *name, size_t size_bytes) {
    return le_fail_prefix(le_fail_out_of_memory(size_bytes), "%s", name);
}

/* Reads the head and everything after it into growing memory. */
static leat_status read_all(const struct le_file_in *in, struct le_file_bytes *bytes) {
    size_t capacity = in->has_size ? in->size_bytes + 1 : FIRST_BYTES, length = in->head_bytes, got = 0;
    uint8_t *at = le_alloc(capacity);
    leat_status status = at ? LEAT_OK : fail_memory(in->name, capacity);
    if (at)
        memcpy(at, in->head, in->head_bytes);
    while (!status && !(status = le_file_in_read(in, at + length, capacity - length, &got))) {
        bool is_end = got < capacity - length;
        length += got;
        if (is_end)
            break;
        size_t more = capacity <= SIZE_MAX / 2 ? capacity * 2 : SIZE_MAX;
        uint8_t *grown = le_realloc(at, more);
        if (!grown)
            status = fail_memory(in->name, more);
        at = grown ? grown : at;
        capacity = more;
    }
    if (status)
        le_free(at);
    else
        *bytes = (struct le_file_bytes){.at = at, .size_bytes = length};
    return status;
}

/* ---- map */

leat_status le_file_in_map(const struct le_file_in *in, size_t size_bytes, struct le_file_bytes *bytes) {
    char text[128];
    int flags = MAP_PRIVATE | (size_bytes <= POPULATE_MAX_BYTES ? MAP_POPULATE : 0);
    if (!in->is_opened || !in->has_size)
        return le_fail(LEAT_FILE, "%s: cannot be mapped", in->name);
    void *at = mmap(NULL, size_bytes, PROT_READ, flags, in->fd, 0);
    int number = errno;
    if (at == MAP_FAILED)
        return le_fail(number == ENOMEM ? LEAT_OUT_OF_MEMORY : LEAT_FILE, "%s: cannot map %zu bytes into memory: %s",
                       in->name, size_bytes, strerror_r(number, text, sizeof text));
    *bytes = (struct le_file_bytes){.at = at, .size_bytes = size_bytes, .mapped = true};
    return LEAT_OK;
}

leat_status le_file_in_all(const struct le_file_in *in, struct le_file_bytes *bytes) {
    leat_status status = le_file_in_map(in, in->size_bytes, bytes);
    return status == LEAT_FILE ? read_all(in, bytes) : status;
}

void le_file_bytes_finish(struct le_file_bytes *bytes) {
    void *at = (void *)(uintptr_t)bytes->at;
    if (at && bytes->mapped)
        munmap(at, bytes->size_bytes);
    else
        le_free(at);
    *bytes = (struct le_file_bytes){0};
}
