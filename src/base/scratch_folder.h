/* A private temporary folder in $TMPDIR (default /tmp), with mode 0700. Its owner removes it. Folders that a killed
 * process left behind are removed an hour later, when the next one is made. Any thread. */
#ifndef LE_SCRATCH_FOLDER_H
#define LE_SCRATCH_FOLDER_H
#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

/* *path: in the arena; NULL on failure. */
leat_status le_scratch_new(struct le_arena *arena, char **path);
void le_scratch_remove(const char *path); /* with all its contents; NULL is fine */
/* Writes a file in the folder and creates the folders in its name. LEAT_INVALID if the name leaves the folder. */
leat_status le_scratch_write(const char *path, const char *name, const void *bytes, size_t size_bytes);
/* Appends a file's bytes. */
leat_status le_scratch_read(const char *path, const char *name, struct le_text *bytes);
#endif
