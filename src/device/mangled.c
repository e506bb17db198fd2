/* See mangled.h. A walk over the symbol with one position; `lost` is set at the first thing that is not known. */
#include "device/mangled.h"
#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 64, SUBSTITUTIONS_MAX = 32 };

/* What is known of a type: the code of a builtin one, or of the builtin one that it points to; 0: it is another. */
struct type {
    char code, pointee;
};

struct walk {
    const char *at;
    bool lost;
    int depth;
    /* What S_, S0_, ... stand for, in order. */
    struct type substitutions[SUBSTITUTIONS_MAX];
    int substitution_count;
    bool is_unsure; /* it met what it does not number: they are not known any more */
};

static void append(char *text, size_t size_bytes, const char *more, size_t length) {
    size_t used = strlen(text);
    if (length > size_bytes - 1 - used)
        length = size_bytes - 1 - used;
    memcpy(text + used, more, length);
    text[used + length] = '\0';
}

/* "5inner": its length and where it starts; NULL if it is none. */
static const char *source_name(struct walk *walk, size_t *length) {
    size_t count = 0;
    if (!isdigit((unsigned char)*walk->at))
        return NULL;
    while (isdigit((unsigned char)*walk->at) && count < 100000)
        count = count * 10 + (size_t)(*walk->at++ - '0');
    const char *start = walk->at;
    if (strnlen(start, count) < count || count == 0)
        return NULL;
    walk->at += count;
    *length = count;
    return start;
}

static bool take(struct walk *walk, char c) {
    if (*walk->at != c)
        return false;
    walk->at++;
    return true;
}

static const char *builtin(char code) {
    static const char *const NAMES[128] = {
        ['v'] = "void",          ['b'] = "bool",           ['c'] = "char",
        ['a'] = "signed char",   ['h'] = "unsigned char",  ['s'] = "short",
        ['i'] = "int",           ['t'] = "unsigned short", ['j'] = "unsigned",
        ['l'] = "long",          ['x'] = "long long",      ['f'] = "float",
        ['m'] = "unsigned long", ['d'] = "double",         ['y'] = "unsigned long long",
        ['w'] = "wchar_t"};
    return (unsigned char)code < 128 ? NAMES[(unsigned char)code] : NULL;
}

static void skip_arguments(struct walk *walk);
static struct type skip_type(struct walk *walk, char *text, size_t size_bytes);

static void add_substitution(struct walk *walk, struct type type) {
    if (walk->substitution_count < SUBSTITUTIONS_MAX)
        walk->substitutions[walk->substitution_count++] = type;
    else
        walk->is_unsure = true;
}

/* S_, S0_, St, Sa: a substitution may not be known, but where it ends is. */
static bool skip_substitution(struct walk *walk, struct type *type) {
    int number = 0;
    walk->at++;
    *type = (struct type){0};
    if (islower((unsigned char)*walk->at)) {
        walk->at++;
        walk->is_unsure = true;
        return true;
    }
    for (; isdigit((unsigned char)*walk->at) || isupper((unsigned char)*walk->at); walk->at++)
        number = number > SUBSTITUTIONS_MAX
                     ? number
                     : 36 * number + 1 + (isdigit((unsigned char)*walk->at) ? *walk->at - '0' : *walk->at - 'A' + 10);
    if (!walk->is_unsure && number < walk->substitution_count)
        *type = walk->substitutions[number];
    return take(walk, '_');
}

static void skip_nested(struct walk *walk) {
    size_t length;
    struct type type;
    walk->is_unsure = true;
    while (!walk->lost && !take(walk, 'E')) {
        if (isdigit((unsigned char)*walk->at))
            walk->lost = !source_name(walk, &length);
        else if (*walk->at == 'S')
            walk->lost = !skip_substitution(walk, &type);
        else if (*walk->at == 'I')
            skip_arguments(walk);
        else
            walk->lost = true;
    }
}

/* After `L`: a type and a value, up to `E`. */
static void skip_literal(struct walk *walk) {
    if (*walk->at == '_') /* the address of something */
        walk->lost = true;
    else
        skip_type(walk, NULL, 0);
    while (!walk->lost && *walk->at && *walk->at != 'E')
        walk->at++;
    walk->lost |= !take(walk, 'E');
}

/* At `I`: template arguments, up to its `E`. */
static void skip_arguments(struct walk *walk) {
    walk->at++;
    walk->is_unsure = true;
    while (!walk->lost && !take(walk, 'E')) {
        if (*walk->at == 'L') {
            walk->at++;
            skip_literal(walk);
        } else if (*walk->at == 'J') {
            skip_arguments(walk);
        } else {
            skip_type(walk, NULL, 0);
        }
    }
}

/* A class, an enumeration, a substitution or a template's parameter. */
static struct type skip_named(struct walk *walk) {
    size_t length;
    struct type type = {0};
    if (take(walk, 'N'))
        skip_nested(walk);
    else if (*walk->at == 'S')
        walk->lost = !skip_substitution(walk, &type);
    else if (take(walk, 'T')) {
        while (isdigit((unsigned char)*walk->at))
            walk->at++;
        walk->lost = !take(walk, '_');
        walk->is_unsure = true;
    } else {
        walk->lost = !source_name(walk, &length);
        add_substitution(walk, type);
    }
    if (!walk->lost && *walk->at == 'I') {
        skip_arguments(walk);
        type = (struct type){0};
    }
    return type;
}

/* Skips one type; its text, where it is one of builtin types, pointers and qualifiers, is added to text. */
static struct type skip_type(struct walk *walk, char *text, size_t size_bytes) {
    bool is_constant = false, is_qualified = false;
    struct type type = {0};
    if (++walk->depth > DEPTH_MAX)
        walk->lost = true;
    for (; !walk->lost && (*walk->at == 'K' || *walk->at == 'V' || *walk->at == 'r'); walk->at++) {
        is_constant |= *walk->at == 'K';
        is_qualified = true;
    }
    char code = *walk->at;
    if (walk->lost || !code) {
        walk->lost = true;
    } else if (code == 'P' || code == 'R' || code == 'O') {
        walk->at++;
        struct type inner = skip_type(walk, text, size_bytes);
        type.pointee = code == 'P' ? inner.code : 0;
        add_substitution(walk, type);
        if (text)
            append(text, size_bytes, code == 'P' ? " *" : " &", 2);
    } else if (builtin(code)) {
        walk->at++;
        type.code = code;
        if (text && is_constant)
            append(text, size_bytes, "const ", 6);
        if (text)
            append(text, size_bytes, builtin(code), strlen(builtin(code)));
    } else {
        type = skip_named(walk);
        if (text)
            append(text, size_bytes, "?", 1);
    }
    if (is_qualified)
        add_substitution(walk, type);
    walk->depth--;
    return type;
}

static void read_parameter(struct walk *walk, struct le_mangled *mangled) {
    const char *start = walk->at;
    char text[sizeof mangled->parameters] = "";
    struct type type = skip_type(walk, text, sizeof text);
    if (walk->lost)
        return;
    while (*start == 'K' || *start == 'V' || *start == 'r')
        start++;
    enum le_mangled_kind kind = *start == 'P' ? LE_MANGLED_POINTER : LE_MANGLED_UNKNOWN;
    if (builtin(*start))
        kind = LE_MANGLED_NUMBER;
    if (mangled->parameter_count)
        append(mangled->parameters, sizeof mangled->parameters, ", ", 2);
    append(mangled->parameters, sizeof mangled->parameters, text, strlen(text));
    mangled->pointees[mangled->parameter_count] = type.pointee;
    mangled->kinds[mangled->parameter_count++] = kind;
}

static void read_parameters(struct walk *walk, struct le_mangled *mangled) {
    mangled->parameter_count = 0;
    if (mangled->is_template)
        skip_type(walk, NULL, 0); /* what it returns */
    if (strcmp(walk->at, "v") == 0)
        return;
    while (!walk->lost && *walk->at && mangled->parameter_count < LE_MANGLED_PARAMETERS_MAX)
        read_parameter(walk, mangled);
    if (*walk->at || walk->lost || strchr(mangled->parameters, '?'))
        mangled->parameters[0] = '\0';
}

static void add_part(struct le_mangled *mangled, const char *part, size_t length) {
    static const char ANONYMOUS[] = "_GLOBAL__N_";
    bool internal = length > 10 && memcmp(part, "_INTERNAL_", 10) == 0;
    if (internal || (length >= sizeof ANONYMOUS - 1 && memcmp(part, ANONYMOUS, sizeof ANONYMOUS - 1) == 0))
        return;
    if (mangled->name[0])
        append(mangled->name, sizeof mangled->name, "::", 2);
    append(mangled->name, sizeof mangled->name, part, length);
}

/* The name's parts, up to where its parameters start. */
static void read_name(struct walk *walk, struct le_mangled *mangled) {
    bool nested = take(walk, 'N');
    for (int parts = 0; !walk->lost; parts++) {
        size_t length = 0;
        take(walk, 'L'); /* of internal linkage */
        const char *part = source_name(walk, &length);
        walk->lost = !part;
        if (!part)
            return;
        if (parts) /* the namespace before it; the function itself is no substitution */
            add_substitution(walk, (struct type){0});
        add_part(mangled, part, length);
        mangled->is_template = *walk->at == 'I';
        if (mangled->is_template)
            skip_arguments(walk);
        if (!nested || walk->lost || take(walk, 'E'))
            return;
    }
}

void le_mangled_read(const char *symbol, struct le_mangled *mangled) {
    struct walk walk = {.at = symbol + 2};
    *mangled = (struct le_mangled){.parameter_count = -1};
    if (strncmp(symbol, "_Z", 2) == 0) {
        read_name(&walk, mangled);
        mangled->is_mangled = !walk.lost && mangled->name[0];
    }
    if (mangled->is_mangled) {
        read_parameters(&walk, mangled);
        return;
    }
    *mangled = (struct le_mangled){.parameter_count = -1};
    size_t length = strcspn(symbol, "<"); /* the simulator's are as the source has them: ns::fill<float,3> */
    mangled->is_template = symbol[length] == '<';
    append(mangled->name, sizeof mangled->name, symbol, length);
}
