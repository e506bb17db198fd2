/* See suggest.h. */
#include "cli/suggest.h"
#include <string.h>

enum { LENGTH_MAX = 32 };

static int smaller(int a, int b) {
    return a < b ? a : b;
}

/* The number of missing, added, changed and transposed letters (Damerau-Levenshtein distance). Both texts have at most
 * LENGTH_MAX letters. */
static int distance(const char *a, const char *b) {
    int rows[3][LENGTH_MAX + 1]; /* rows for the current letter of a and the two before it */
    int length_a = (int)strlen(a), length_b = (int)strlen(b);
    for (int j = 0; j <= length_b; j++)
        rows[0][j] = j;
    for (int i = 1; i <= length_a; i++) {
        int *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= length_b; j++) {
            now[j] = smaller(last[j - 1] + (a[i - 1] != b[j - 1]), 1 + smaller(last[j], now[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], before[j - 2] + 1);
        }
    }
    return rows[length_a % 3][length_b];
}

const char *le_suggest(const char *given, const char *const *known) {
    const char *best = NULL;
    size_t length = strlen(given), letters = length - strspn(given, "-");
    int best_distance = letters < 3 ? 1 : letters < 6 ? 2 : 3; /* names at this distance are too far */
    for (; *known && length <= LENGTH_MAX; known++) {
        bool begins = letters >= 2 && strncmp(*known, given, length) == 0;
        int far = begins ? 1 : distance(given, *known);
        if (far < best_distance || (begins && !best)) {
            best = *known;
            best_distance = far;
        }
    }
    return best;
}

int le_cli_unknown_option(struct le_cli *cli, const char *option, const char *const *known) {
    char name[LENGTH_MAX + 1];
    size_t length = strcspn(option, "="); /* --name=value */
    const char *near = NULL;
    if (length <= LENGTH_MAX) {
        memcpy(name, option, length);
        name[length] = '\0';
        near = le_suggest(name, known);
    }
    if (near)
        return le_cli_usage(cli, "unknown option `%s`; did you mean `%s`?", option, near);
    return le_cli_usage(cli, "unknown option `%s`", option);
}
