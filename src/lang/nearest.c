/* The known name that was probably meant. */
#include "lang/tree.h"
#include <string.h>

#define LENGTH_MAX 32

static int least(int a, int b) {
    return a < b ? a : b;
}

/* Changes, insertions and deletions of single characters that turn a into b. */
static int distance(const char *a, int length_a, const char *b, int length_b) {
    int row[LENGTH_MAX + 1];
    for (int k = 0; k <= length_b; k++)
        row[k] = k;
    for (int i = 1; i <= length_a; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int k = 1; k <= length_b; k++) {
            int changed = diagonal + (a[i - 1] != b[k - 1]);
            diagonal = row[k];
            row[k] = least(changed, 1 + least(row[k], row[k - 1]));
        }
    }
    return row[length_b];
}

const char *le_nearest(const char *name, const char *const *known, int count) {
    size_t length = strlen(name);
    const char *best = NULL;
    if (length > LENGTH_MAX)
        return NULL;
    int best_distance = (length < 6 ? 1 : (int)length / 3) + 1; /* as far as this is no likeness any more */
    for (int k = 0; k < count; k++) {
        size_t other = strlen(known[k]);
        if (other > LENGTH_MAX)
            continue;
        int d = distance(name, (int)length, known[k], (int)other);
        if (d < best_distance && d < (int)length) {
            best = known[k];
            best_distance = d;
        }
    }
    return best;
}
