/* Finds the known name that is spelled most like another. */
#include "lang/tree.h"
#include "base/text.h"
#include <string.h>

#define LENGTH_MAX 32

const char *le_nearest(const char *name, const char *const *known, int count) {
    size_t length = strlen(name);
    const char *best = NULL;
    if (length > LENGTH_MAX)
        return NULL;
    int best_distance = (length < 6 ? 1 : (int)length / 3) + 1; /* names at this distance are too different */
    for (int k = 0; k < count; k++) {
        if (strlen(known[k]) > LENGTH_MAX)
            continue;
        int d = le_text_distance(name, known[k]);
        if (d < best_distance && d < (int)length) {
            best = known[k];
            best_distance = d;
        }
    }
    return best;
}
