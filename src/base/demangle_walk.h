/* The state of reading a symbol, shared by demangle.c and demangle_types.c. It stores what the symbol may refer to
 * later: S_ is the first type or name that was read, S0_ the second; T_ is the first argument of the template whose
 * parameters are being read. `lost` is set at the first unknown construct; from then on the result is useless. */
#ifndef LE_DEMANGLE_WALK_H
#define LE_DEMANGLE_WALK_H
#include "base/demangle.h"
#include "base/text.h"
#include <string.h>

enum { TEXT_BYTES = 8000, BYTES_MOST = 1 << 20, STEPS_MOST = 10000 };
enum { DEPTH_MOST = 400, SEEN_MOST = 400, ARGUMENTS_MOST = 100 };

/* A type, split where a name would be: "int (*" and ")(float)". */
struct le_symbol_type {
    const char *left, *right;
    struct le_demangled_parameter fact;
};

struct le_symbol_arguments {
    struct le_symbol_type *at;
    int count, capacity;
};

struct le_symbol_walk {
    struct le_arena *arena;
    const char *at;
    struct le_symbol_type seen[SEEN_MOST];
    int seen_count, depth;
    int steps, bytes;                            /* limits: texts joined so far, and their bytes */
    const struct le_symbol_arguments *arguments; /* NULL: outside of templates */
    bool as_in_sources;                          /* write "const float *" instead of "float const*" */
    bool lost;
};

/* A name, with what is needed to read its function's parameters. */
struct le_symbol_name {
    const char *text, *last; /* last: the last part, without template arguments */
    const char *plain;       /* without template arguments and unnamed namespaces */
    const char *qualifiers;  /* " const" of a member function */
    bool is_template;        /* a template's result type precedes the parameters, unless has_no_result */
    bool has_no_result;      /* a constructor, a destructor or a conversion */
};

/* ---- grammar */

struct le_symbol_name le_demangle_name(struct le_symbol_walk *w);
const char *le_demangle_source_name(struct le_symbol_walk *w); /* "3foo" */
struct le_symbol_type
le_demangle_substitution(struct le_symbol_walk *w); /* S_, or an abbreviated standard name such as Sa */
struct le_symbol_type le_demangle_template_parameter(struct le_symbol_walk *w); /* T_ */
const char *le_demangle_arguments(struct le_symbol_walk *w); /* "<int, 4>"; T_ refers to these from now on */
const char *le_demangle_expression(struct le_symbol_walk *w);
struct le_symbol_type le_demangle_type(struct le_symbol_walk *w);
/* Reads a parameter list up to `E` or the end of the symbol. function, if not NULL, receives what is known of each. */
const char *le_demangle_parameters(struct le_symbol_walk *w, struct le_demangled_function *function);

/* ---- texts */

static inline const char *join(struct le_symbol_walk *w, const char *a, const char *b, const char *c) {
    size_t lengths[] = {strlen(a), strlen(b), strlen(c)}, length = lengths[0] + lengths[1] + lengths[2];
    w->bytes += length < TEXT_BYTES ? (int)length : TEXT_BYTES;
    w->lost |= length > TEXT_BYTES || w->bytes > BYTES_MOST || ++w->steps > STEPS_MOST;
    if (w->lost)
        return "";
    if (length == lengths[0] || length == lengths[1])
        return length == lengths[0] ? a : b;
    char *text = le_arena_alloc(w->arena, length + 1);
    memcpy(text, a, lengths[0]);
    memcpy(text + lengths[0], b, lengths[1]);
    memcpy(text + lengths[0] + lengths[1], c, lengths[2]);
    return text;
}

static inline const char *copy(struct le_symbol_walk *w, const char *start, size_t length) {
    return memcpy(le_arena_alloc(w->arena, length + 1), start, length);
}

static inline const char *add_to_list(struct le_symbol_walk *w, const char *list, const char *more) {
    return *more ? join(w, list, *list ? ", " : "", more) : list;
}

static inline struct le_symbol_type plain_type(const char *text) {
    return (struct le_symbol_type){.left = text, .right = ""};
}

static inline const char *type_text(struct le_symbol_walk *w, struct le_symbol_type type) {
    return join(w, type.left, type.right, "");
}

static inline void keep(struct le_symbol_walk *w, struct le_symbol_type type) {
    w->lost |= w->seen_count == SEEN_MOST;
    if (!w->lost)
        w->seen[w->seen_count++] = type;
}

static inline bool take(struct le_symbol_walk *w, const char *text) {
    size_t length = strlen(text);
    if (w->lost || strncmp(w->at, text, length) != 0)
        return false;
    w->at += length;
    return true;
}

static inline void expect(struct le_symbol_walk *w, const char *text) {
    w->lost |= !take(w, text);
}

/* Whether the current list has another item; skips the `E` at its end. */
static inline bool goes_on(struct le_symbol_walk *w) {
    w->lost |= *w->at == '\0';
    return !w->lost && !take(w, "E");
}

/* Reads the number in a reference: "_" is 0, "12_" is 13. */
static inline int read_number_in_base(struct le_symbol_walk *w, int base) {
    int place = 0;
    if (take(w, "_"))
        return 0;
    for (; !w->lost && *w->at != '_'; w->at += !w->lost) {
        char c = *w->at;
        int digit = le_is_digit(c) ? c - '0' : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : base;
        w->lost |= digit >= base || place > 100000; /* the end of the symbol is not a digit */
        place = place * base + digit;
    }
    take(w, "_");
    return place + 1;
}

static inline const char *read_digits(struct le_symbol_walk *w) {
    const char *start = w->at;
    while (le_is_digit(*w->at))
        w->at++;
    return copy(w, start, (size_t)(w->at - start));
}

/* pairs: codes, each followed by its meaning. Skips the code that is next and returns its meaning; NULL if none is
 * next. */
static inline const char *take_known(struct le_symbol_walk *w, const char *const *pairs, size_t count) {
    for (size_t k = 0; k < count; k += 2)
        if (take(w, pairs[k]))
            return pairs[k + 1];
    return NULL;
}

static inline bool ends_with(const char *text, char c) {
    size_t length = strlen(text);
    return length && text[length - 1] == c;
}

#endif
