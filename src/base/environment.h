/* The environment, as the library's own threads may read it. A program may change its environment at any time, with
 * setenv or with Python's os.environ, and meanwhile neither getenv nor environ is safe in another thread. Opening a
 * context therefore copies the environment, in the caller's thread. Until the last context is closed, the library reads
 * the latest copy. Without a context it reads the environment itself. Any thread. */
#ifndef LE_ENVIRONMENT_H
#define LE_ENVIRONMENT_H
#include <stdbool.h>

/* Copies the variables, of which the last is NULL; NULL: the environment. false: no memory. */
bool le_environment_hold(const char *const *variables);
void le_environment_release(void); /* the last one frees the copies */
/* A variable's value, valid until the last context is closed; NULL: not set. */
const char *le_environment_get(const char *name);
/* The same; NULL also if the process runs with more privileges than its user has. */
const char *le_environment_get_secure(const char *name);
char *const *le_environment_all(void); /* "NAME=value" each, the last is NULL */
#endif
