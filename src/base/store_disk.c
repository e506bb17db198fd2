/* See store_disk.h. Files are named "HASH.leat", or have the temporary names of new_file.h; other files are left alone.
 * A header is in the machine's byte order; one in the other order counts as damaged. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/store_disk.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/new_file.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC        0x65726f747374616cu /* "latstore" */
#define SECOND_NS    1000000000
#define ABANDONED_NS (3600LL * SECOND_NS) /* a temporary file not written for this long is removed */
#define NAME_ENDING  ".leat"
#define HASH_DIGITS  16

enum { FORMAT_VERSION = 2, NOT_FOR_OTHERS = 077 };

/* The header as stored in the file, without padding. Key and value follow. */
struct header {
    uint64_t magic;
    uint64_t version;
    uint64_t key_bytes, value_bytes;
    int64_t made_ns;
    uint64_t body_hash; /* of key and value */
    char label[LE_STORE_LABEL_BYTES];
    uint64_t head_hash; /* of all fields before it */
    uint64_t uses;      /* rewritten in place at each use: the number of uses, with a checksum in the upper half */
};
_Static_assert(sizeof(struct header) == 8 * 8 + LE_STORE_LABEL_BYTES, "padding in a header");

static int64_t nanoseconds(struct timespec time) {
    return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

static struct timespec now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time;
}

/* ---- the folder */

static bool make_folders(const char *path) {
    char part[LE_STORE_FOLDER_BYTES];
    size_t length = strlen(path);
    assert(length < sizeof part);
    memcpy(part, path, length + 1);
    for (size_t k = 1; k <= length; k++) {
        if (part[k] != '/' && part[k] != 0)
            continue;
        part[k] = 0;
        int error = mkdir(part, 0700) == 0 ? 0 : errno;
        if (error && error != EEXIST && access(part, F_OK) != 0) {
            errno = error;
            return false;
        }
        part[k] = path[k];
    }
    return true;
}

/* Whether the user owns the folder and is the only one who can write to it. */
static bool is_own(int folder, const char *path, char *reason) {
    struct stat about;
    if (fstat(folder, &about) != 0) {
        snprintf(reason, LE_DISK_REASON_BYTES, "%s: %s", path, strerror(errno));
        return false;
    }
    if (about.st_uid != geteuid()) {
        snprintf(reason, LE_DISK_REASON_BYTES, "%s belongs to user %lu, but this process runs as user %lu", path,
                 (unsigned long)about.st_uid, (unsigned long)geteuid());
        return false;
    }
    if (about.st_mode & NOT_FOR_OTHERS) {
        snprintf(reason, LE_DISK_REASON_BYTES, "%s is open to other users (mode %04o); its mode must be 0700", path,
                 (unsigned)about.st_mode & 07777);
        return false;
    }
    return true;
}

enum le_disk_open_result le_disk_open(const char *path, bool create, int *folder, char *reason) {
    if (create && !make_folders(path)) {
        snprintf(reason, LE_DISK_REASON_BYTES, "%s cannot be created: %s", path, strerror(errno));
        return LE_DISK_REFUSED;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && !create)
        return LE_DISK_ABSENT;
    if (fd < 0) {
        struct stat about;
        bool is_link = lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
        const char *why = is_link ? "is a symbolic link, which is not followed" : strerror(errno);
        snprintf(reason, LE_DISK_REASON_BYTES, "%s%s %s", path, is_link ? "" : ":", why);
        return LE_DISK_REFUSED;
    }
    if (!is_own(fd, path, reason)) {
        close(fd);
        return LE_DISK_REFUSED;
    }
    *folder = fd;
    return LE_DISK_OPEN;
}

/* ---- bytes of a file */

static bool read_all(int fd, void *bytes, size_t size_bytes, off_t offset) {
    char *at = bytes;
    while (size_bytes > 0) {
        ssize_t done = pread(fd, at, size_bytes, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        offset += done;
        size_bytes -= (size_t)done;
    }
    return true;
}

static bool write_all(int fd, const void *bytes, size_t size_bytes) {
    const char *at = bytes;
    while (size_bytes > 0) {
        ssize_t done = write(fd, at, size_bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        at += done;
        size_bytes -= (size_t)done;
    }
    return true;
}

static uint64_t hash_head(const struct header *header) {
    return le_hash(header, offsetof(struct header, head_hash), MAGIC);
}

static uint64_t hash_body(const void *key, size_t key_bytes, const void *value, size_t value_bytes) {
    return le_hash(value, value_bytes, le_hash(key, key_bytes, MAGIC));
}

/* The field for that number of uses. */
static uint64_t encode_uses(const struct header *header, uint32_t uses) {
    return le_hash(&uses, sizeof uses, header->head_hash) << 32 | uses;
}

static uint32_t decode_uses(const struct header *header) {
    return (uint32_t)header->uses;
}

static void name_of(struct le_disk_key key, char *name) {
    snprintf(name, LE_DISK_NAME_BYTES, "%016llx" NAME_ENDING,
             (unsigned long long)le_hash(key.bytes, key.size_bytes, 0));
}

bool le_disk_size(size_t key_bytes, size_t value_bytes, size_t *size_bytes) {
    return !__builtin_add_overflow(key_bytes, value_bytes, size_bytes) &&
           !__builtin_add_overflow(*size_bytes, sizeof(struct header), size_bytes) && *size_bytes <= INT64_MAX;
}

bool le_disk_remove(int folder, const char *name) {
    return unlinkat(folder, name, 0) == 0;
}

/* ---- reading */

/* Opens an entry's file, for writing if permitted, and reads its header. DAMAGED: not a header that this version on
 * this machine could have written. */
static enum le_disk_read_result open_entry(int folder, const char *name, int flags, int *fd, struct header *header,
                                           struct stat *about) {
    const int always = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    *fd = openat(folder, name, flags | always);
    if (*fd < 0 && flags != O_RDONLY && (errno == EACCES || errno == EROFS || errno == EPERM))
        *fd = openat(folder, name, O_RDONLY | always);
    if (*fd < 0)
        return errno == ELOOP || errno == EISDIR || errno == ENXIO ? LE_DISK_DAMAGED : LE_DISK_MISSED;
    if (fstat(*fd, about) != 0)
        return LE_DISK_MISSED;
    size_t size_bytes;
    bool sound =
        S_ISREG(about->st_mode) && about->st_uid == geteuid() && !(about->st_mode & NOT_FOR_OTHERS) &&
        read_all(*fd, header, sizeof *header, 0) && header->magic == MAGIC && header->version == FORMAT_VERSION &&
        header->head_hash == hash_head(header) && header->uses == encode_uses(header, decode_uses(header)) &&
        header->label[LE_STORE_LABEL_BYTES - 1] == 0 &&
        le_disk_size(header->key_bytes, header->value_bytes, &size_bytes) && (uint64_t)about->st_size == size_bytes;
    return sound ? LE_DISK_FOUND : LE_DISK_DAMAGED;
}

/* Reads key and value, and compares the key and the checksum. *body holds both, allocated with le_alloc. */
static enum le_disk_read_result read_body(int fd, const struct header *header, struct le_disk_key key, char **body) {
    size_t body_bytes = header->key_bytes + header->value_bytes;
    *body = le_alloc(body_bytes);
    if (!*body)
        return LE_DISK_MISSED;
    if (!read_all(fd, *body, body_bytes, sizeof *header))
        return LE_DISK_DAMAGED;
    const char *value = *body + header->key_bytes;
    if (hash_body(*body, header->key_bytes, value, header->value_bytes) != header->body_hash)
        return LE_DISK_DAMAGED;
    bool same = header->key_bytes == key.size_bytes && memcmp(*body, key.bytes, key.size_bytes) == 0;
    return same ? LE_DISK_FOUND : LE_DISK_MISSED;
}

/* Records a use in the file. If that fails, the entry is only evicted a little earlier. */
static void record_use(int fd, const struct header *header) {
    uint32_t before = decode_uses(header);
    uint64_t uses = encode_uses(header, before + (before < UINT32_MAX));
    ssize_t done = pwrite(fd, &uses, sizeof uses, offsetof(struct header, uses));
    (void)done;
    struct timespec time = now();
    futimens(fd, (struct timespec[2]){time, time});
}

/* Removes the file, unless another process has replaced it meanwhile. */
static void remove_damaged(int folder, const char *name, int fd) {
    struct stat opened, named;
    bool other = fd >= 0 && fstat(fd, &opened) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                 (opened.st_ino != named.st_ino || opened.st_dev != named.st_dev);
    if (!other)
        le_disk_remove(folder, name);
}

enum le_disk_read_result le_disk_read(int folder, struct le_disk_key key, void **value, size_t *value_bytes) {
    char name[LE_DISK_NAME_BYTES], *body = NULL;
    int fd;
    struct header header;
    struct stat about;
    name_of(key, name);
    enum le_disk_read_result result = open_entry(folder, name, O_RDWR, &fd, &header, &about);
    if (result == LE_DISK_FOUND)
        result = read_body(fd, &header, key, &body);
    if (result == LE_DISK_FOUND) {
        memmove(body, body + header.key_bytes, header.value_bytes);
        *value = body;
        *value_bytes = header.value_bytes;
        body = NULL;
        record_use(fd, &header);
    } else if (result == LE_DISK_DAMAGED) {
        remove_damaged(folder, name, fd);
    }
    le_free(body);
    if (fd >= 0)
        close(fd);
    return result;
}

bool le_disk_describe(int folder, const struct le_disk_file *file, leat_cache_entry *entry) {
    int fd;
    struct header header;
    struct stat about;
    enum le_disk_read_result result = open_entry(folder, file->name, O_RDONLY, &fd, &header, &about);
    bool sound = result == LE_DISK_FOUND;
    *entry = (leat_cache_entry){.size_bytes = file->size_bytes,
                                .uses = sound ? decode_uses(&header) : 0,
                                .made_s = (sound ? header.made_ns : file->used_ns) / SECOND_NS,
                                .used_s = file->used_ns / SECOND_NS};
    snprintf(entry->label, sizeof entry->label, "%s", sound ? header.label : "(damaged)");
    if (fd >= 0)
        close(fd);
    return result != LE_DISK_MISSED;
}

/* ---- writing */

/* Copies a label, cut between characters, with control characters replaced. */
static void copy_label(char *target, const char *label) {
    size_t length = strnlen(label, LE_STORE_LABEL_BYTES);
    if (length == LE_STORE_LABEL_BYTES) {
        length--;
        while (length > 0 && ((unsigned char)label[length] & 0xc0) == 0x80)
            length--;
    }
    for (size_t k = 0; k < length; k++)
        target[k] = (unsigned char)label[k] < 0x20 || label[k] == 0x7f ? '?' : label[k];
}

static bool write_entry(int fd, const struct header *header, struct le_disk_key key, const void *value) {
    struct timespec time = now();
    return write_all(fd, header, sizeof *header) && write_all(fd, key.bytes, key.size_bytes) &&
           write_all(fd, value, header->value_bytes) && futimens(fd, (struct timespec[2]){time, time}) == 0;
}

bool le_disk_write(int folder, const char *label, struct le_disk_key key, const void *value, size_t value_bytes,
                   struct le_disk_file *file, char *reason) {
    struct header header = {.magic = MAGIC,
                            .version = FORMAT_VERSION,
                            .key_bytes = key.size_bytes,
                            .value_bytes = value_bytes,
                            .made_ns = nanoseconds(now()),
                            .body_hash = hash_body(key.bytes, key.size_bytes, value, value_bytes)};
    copy_label(header.label, label);
    header.head_hash = hash_head(&header);
    header.uses = encode_uses(&header, 0);
    struct le_new_file entry;
    name_of(key, file->name);
    file->used_ns = header.made_ns;
    file->size_bytes = sizeof header + key.size_bytes + value_bytes;
    bool opened = le_new_file_open(folder, 0600, &entry);
    if (opened && write_entry(entry.fd, &header, key, value) && le_new_file_publish(&entry, file->name, true))
        return true;
    int error = errno;
    if (opened)
        le_new_file_drop(&entry);
    snprintf(reason, LE_DISK_REASON_BYTES, "an entry cannot be written: %s", strerror(error));
    return false;
}

/* ---- all files */

static bool is_hash(const char *text) {
    return strspn(text, "0123456789abcdef") == HASH_DIGITS;
}

static bool is_entry(const char *name) {
    return is_hash(name) && strcmp(name + HASH_DIGITS, NAME_ENDING) == 0;
}

static bool add_file(struct le_disk_files *files, const char *name, const struct stat *about) {
    if (files->count == files->capacity) {
        size_t capacity = files->capacity ? 2 * files->capacity : 64, size_bytes;
        if (!le_mul_size(capacity, sizeof *files->at, &size_bytes))
            return false;
        struct le_disk_file *at = le_realloc(files->at, size_bytes);
        if (!at)
            return false;
        files->at = at;
        files->capacity = capacity;
    }
    struct le_disk_file *file = &files->at[files->count++];
    *file = (struct le_disk_file){.size_bytes = (uint64_t)about->st_size, .used_ns = nanoseconds(about->st_mtim)};
    memcpy(file->name, name, strlen(name) + 1); /* is_entry */
    files->size_bytes += file->size_bytes;
    return true;
}

static bool scan_one(int folder, const char *name, struct le_disk_files *files) {
    struct stat about;
    bool temporary = le_new_file_is_temporary(name);
    if ((!temporary && !is_entry(name)) || fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    if (S_ISDIR(about.st_mode))
        return true;
    if (!temporary)
        return add_file(files, name, &about);
    if (nanoseconds(now()) - nanoseconds(about.st_mtim) > ABANDONED_NS)
        le_disk_remove(folder, name);
    return true;
}

static int compare_files(const void *left, const void *right) {
    const struct le_disk_file *a = left, *b = right;
    if (a->used_ns != b->used_ns)
        return a->used_ns < b->used_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

int le_disk_scan(int folder, struct le_disk_files *files) {
    *files = (struct le_disk_files){0};
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    int error = listing ? 0 : errno;
    if (!listing && fd >= 0)
        close(fd);
    for (struct dirent *item; !error && (item = readdir(listing));)
        error = scan_one(folder, item->d_name, files) ? 0 : ENOMEM;
    if (listing)
        closedir(listing);
    if (error) {
        le_free(files->at);
        *files = (struct le_disk_files){0};
    } else if (files->count) {
        qsort(files->at, files->count, sizeof *files->at, compare_files);
    }
    return error;
}
