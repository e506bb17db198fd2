/* A file that gets its name when it is complete. Until then it has none if the file system can do that (O_TMPFILE), so
 * that a process that is killed leaves nothing behind; on other file systems it has a temporary name in the same
 * folder. The file that had the name before is complete until the moment it is replaced. Not thread-safe for one file.
 */
#ifndef LE_NEW_FILE_H
#define LE_NEW_FILE_H
#include <stdbool.h>
#include <sys/types.h>

enum { LE_NEW_FILE_NAME_BYTES = 24 };
struct le_new_file {
    int folder;                             /* the caller's; it outlives this */
    int fd;                                 /* open for writing; -1: closed */
    char temporary[LE_NEW_FILE_NAME_BYTES]; /* in the folder; "": the file has no name */
};

/* The functions return false and set errno on failure. le_new_file_drop is not needed if opening failed or the file was
 * published. */
bool le_new_file_open(int folder, mode_t mode, struct le_new_file *file);
/* Closes the file and gives it its name. sync: waits until its bytes are on the disk. On failure the file is removed.
 */
bool le_new_file_publish(struct le_new_file *file, const char *name, bool sync);
void le_new_file_drop(struct le_new_file *file);

/* Whether a name is one of the temporary ones, ".HASH.tmp". */
bool le_new_file_is_temporary(const char *name);
#endif
