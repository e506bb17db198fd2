/* See demangle.h. A walk over the symbol, with the texts of what it may come back to: S_ is the first thing that was
 * read, S0_ the second; T_ is the first argument of the template whose parameters are being read. What is not known
 * ends it: from `lost` on nothing that is read counts. */
#include "trace/report/demangle.h"
#include "base/text.h"
#include <stdbool.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))

enum { TEXT_BYTES = 8000, BYTES_MOST = 1 << 20, STEPS_MOST = 10000 };
enum { DEPTH_MOST = 400, SEEN_MOST = 400, ARGUMENTS_MOST = 100 };

struct arguments {
    const char **at;
    int count;
};

struct walk {
    struct le_arena *arena;
    const char *at;
    const char *seen[SEEN_MOST];
    int seen_count, depth;
    int steps, bytes;                  /* taken and made */
    const struct arguments *arguments; /* NULL: of no template */
    bool lost;
};

/* A name, and what its function's parameters need to know of it. */
struct name {
    const char *text, *last; /* last: of its parts, without arguments */
    const char *qualifiers;  /* " const" of a member */
    bool tells_result;       /* before the parameters */
};

/* A type around a name that could stand between: "int (*" and ")(float)". */
struct type {
    const char *left, *right;
    bool wraps; /* a function or an array: what points to it stands in parentheses */
};

static struct name read_name(struct walk *w);
static struct type read_type(struct walk *w);
static const char *read_type_text(struct walk *w);
static const char *read_arguments(struct walk *w);
static const char *read_expression(struct walk *w);
static const char *read_encoding(struct walk *w);

/* ---- texts */

static const char *join(struct walk *w, const char *a, const char *b, const char *c) {
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

static const char *copy(struct walk *w, const char *start, size_t length) {
    return memcpy(le_arena_alloc(w->arena, length + 1), start, length);
}

static const char *add_to_list(struct walk *w, const char *list, const char *more) {
    return *more ? join(w, list, *list ? ", " : "", more) : list;
}

static void keep(struct walk *w, const char *text) {
    w->lost |= w->seen_count == SEEN_MOST;
    if (!w->lost)
        w->seen[w->seen_count++] = text;
}

static bool take(struct walk *w, const char *text) {
    size_t length = strlen(text);
    if (w->lost || strncmp(w->at, text, length) != 0)
        return false;
    w->at += length;
    return true;
}

/* Up to where the list ends that is being read. */
static bool goes_on(struct walk *w) {
    w->lost |= *w->at == '\0';
    return !w->lost && !take(w, "E");
}

/* "12_" is 13, "_" 0: the number of what came before. */
static int read_place(struct walk *w, int base) {
    int place = 0;
    if (take(w, "_"))
        return 0;
    for (; !w->lost && *w->at != '_'; w->at += !w->lost) {
        char c = *w->at;
        int digit = le_is_digit(c) ? c - '0' : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : base;
        w->lost |= digit >= base || place > 100000; /* the symbol's end is no digit */
        place = place * base + digit;
    }
    take(w, "_");
    return place + 1;
}

static const char *read_digits(struct walk *w) {
    const char *start = w->at;
    while (le_is_digit(*w->at))
        w->at++;
    return copy(w, start, (size_t)(w->at - start));
}

/* ---- names */

static const char *read_source_name(struct walk *w) {
    size_t length = 0;
    while (le_is_digit(*w->at) && length < TEXT_BYTES)
        length = length * 10 + (size_t)(*w->at++ - '0');
    const char *start = w->at;
    w->lost |= length == 0 || length >= TEXT_BYTES || strnlen(start, length) < length;
    if (w->lost)
        return "";
    w->at += length;
    if (length > 10 && strncmp(start, "_GLOBAL__N", 10) == 0)
        return "(anon)";
    return copy(w, start, length);
}

/* What a code stands for, of pairs of both; NULL: none of them is next. */
static const char *take_known(struct walk *w, const char *const *pairs, size_t count) {
    for (size_t k = 0; k < count; k += 2)
        if (take(w, pairs[k]))
            return pairs[k + 1];
    return NULL;
}

static const char *read_operator(struct walk *w) {
    static const char *const known[] = {
        "nw", " new", "na", " new[]", "dl", " delete", "da", " delete[]", "ps", "+",  "ng", "-",  "ad", "&",
        "de", "*",    "co", "~",      "pl", "+",       "mi", "-",         "ml", "*",  "dv", "/",  "rm", "%",
        "an", "&",    "or", "|",      "eo", "^",       "aS", "=",         "pL", "+=", "mI", "-=", "mL", "*=",
        "dV", "/=",   "rM", "%=",     "aN", "&=",      "oR", "|=",        "eO", "^=", "ls", "<<", "rs", ">>",
        "lS", "<<=",  "rS", ">>=",    "eq", "==",      "ne", "!=",        "lt", "<",  "gt", ">",  "le", "<=",
        "ge", ">=",   "nt", "!",      "aa", "&&",      "oo", "||",        "pp", "++", "mm", "--", "cm", ",",
        "pm", "->*",  "pt", "->",     "cl", "()",      "ix", "[]",        "ss", "<=>"};
    return take_known(w, known, ARRAY_LEN(known));
}

/* Types up to `E`, or to the symbol's end. */
static const char *read_parameters(struct walk *w) {
    const char *list = "";
    if (take(w, "v"))
        return list;
    while (!w->lost && *w->at && !strchr("E.", *w->at) && strncmp(w->at, "RE", 2) != 0 && strncmp(w->at, "OE", 2) != 0)
        list = add_to_list(w, list, read_type_text(w));
    return list;
}

/* "{lambda(int)#1}" of Ul, after it. */
static const char *read_lambda(struct walk *w) {
    const struct arguments *arguments = w->arguments;
    w->arguments = NULL; /* its T_ is an auto */
    const char *parameters = read_parameters(w);
    w->arguments = arguments;
    w->lost |= !take(w, "E");
    return w->lost ? "" : le_arena_format(w->arena, "{lambda(%s)#%d}", parameters, read_place(w, 10) + 1);
}

static const char *read_part(struct walk *w) {
    const char *text = "", *operation;
    take(w, "L"); /* of this file alone */
    if (le_is_digit(*w->at))
        text = read_source_name(w);
    else if (take(w, "Ul"))
        text = read_lambda(w);
    else if (take(w, "Ut"))
        text = le_arena_format(w->arena, "{unnamed type#%d}", read_place(w, 10) + 1);
    else if (take(w, "cv"))
        text = join(w, "operator ", read_type_text(w), "");
    else if ((operation = read_operator(w)))
        text = join(w, "operator", operation, "");
    else
        w->lost = true;
    while (take(w, "B"))
        read_source_name(w);
    return text;
}

static const char *read_standard(struct walk *w) {
    static const char *const known[] = {"St", "std",          "Sa", "std::allocator", "Sb", "std::basic_string",
                                        "Ss", "std::string",  "Si", "std::istream",   "So", "std::ostream",
                                        "Sd", "std::iostream"};
    return take_known(w, known, ARRAY_LEN(known));
}

static const char *read_seen(struct walk *w) {
    const char *standard = read_standard(w);
    if (standard)
        return standard;
    w->lost |= !take(w, "S");
    int place = read_place(w, 36);
    w->lost |= place >= w->seen_count;
    return w->lost ? "" : w->seen[place];
}

static const char *read_argument_seen(struct walk *w) {
    w->lost |= !take(w, "T");
    int place = read_place(w, 10);
    if (!w->lost && !w->arguments)
        return "auto";
    w->lost |= w->lost || place >= w->arguments->count;
    return w->lost ? "" : w->arguments->at[place];
}

static const char *last_part(const char *text) {
    const char *last = text;
    for (const char *at = text; (at = strstr(at, "::")) != NULL;)
        last = at += 2;
    return last;
}

/* A part of a nested name, onto what came before; whether that is something to come back to. */
static bool read_nested_part(struct walk *w, struct name *name) {
    bool is_first = !*name->text;
    name->tells_result = *w->at == 'I';
    if (*w->at == 'S') {
        w->lost |= !is_first;
        name->text = read_seen(w);
        name->last = last_part(name->text);
        return false;
    }
    if (*w->at == 'I') {
        name->text = join(w, name->text, read_arguments(w), "");
        return true;
    }
    if (*w->at == 'T') {
        name->text = name->last = read_argument_seen(w);
        return true;
    }
    bool destroys = *w->at == 'D', makes = *w->at == 'C';
    if ((makes || destroys) && le_is_digit(w->at[1])) {
        w->at += 2;
        name->text = join(w, name->text, destroys ? "::~" : "::", name->last);
        return true;
    }
    name->last = read_part(w);
    name->text = join(w, name->text, is_first ? "" : "::", name->last);
    return true;
}

/* After `N`. */
static struct name read_nested(struct walk *w) {
    struct name name = {.text = "", .last = "", .qualifiers = ""};
    bool is_kept = false;
    take(w, "r");
    const char *is_volatile = take(w, "V") ? " volatile" : "";
    name.qualifiers = join(w, take(w, "K") ? " const" : "", is_volatile, "");
    name.qualifiers = join(w, name.qualifiers, take(w, "R") ? " &" : take(w, "O") ? " &&" : "", "");
    while (goes_on(w)) {
        if (take(w, "M")) /* what follows stands where a member is made */
            continue;
        is_kept = read_nested_part(w, &name);
        if (is_kept)
            keep(w, name.text);
    }
    w->lost |= !is_kept;
    w->seen_count -= is_kept && w->seen_count > 0; /* the whole is kept by who knows that it is a type */
    return name;
}

/* After `Z`: what stands in a function. */
static struct name read_local(struct walk *w) {
    const char *function = read_encoding(w);
    struct name name = {.text = "", .last = "", .qualifiers = ""};
    w->lost |= !take(w, "E");
    if (take(w, "s")) {
        name.text = join(w, function, "::string literal", "");
    } else {
        if (take(w, "d"))
            read_place(w, 10);
        name = read_name(w);
        name.text = join(w, function, "::", name.text);
    }
    if (take(w, "__")) {
        read_digits(w);
        w->lost |= !take(w, "_");
    } else if (*w->at == '_' && le_is_digit(w->at[1])) {
        w->at += 2;
    }
    return name;
}

static struct name read_name_within(struct walk *w) {
    struct name name = {.text = "", .last = "", .qualifiers = ""};
    if (take(w, "N"))
        return read_nested(w);
    if (take(w, "Z"))
        return read_local(w);
    if (*w->at == 'S' && w->at[1] != 't') {
        name.text = read_seen(w);
        w->lost |= *w->at != 'I';
    } else {
        const char *before = take(w, "St") ? "std::" : "";
        name.last = read_part(w);
        name.text = join(w, before, name.last, "");
        if (*w->at == 'I')
            keep(w, name.text);
    }
    if (*w->at == 'I') {
        name.text = join(w, name.text, read_arguments(w), "");
        name.tells_result = true;
    }
    return name;
}

static struct name read_name(struct walk *w) {
    w->lost |= ++w->depth > DEPTH_MOST;
    struct name name = read_name_within(w);
    w->depth--;
    return name;
}

/* A function as a place for others: with its parameters. */
static const char *read_encoding(struct walk *w) {
    const struct arguments *arguments = w->arguments;
    w->arguments = NULL;
    struct name name = read_name(w);
    if (w->lost || !*w->at || *w->at == 'E') {
        w->arguments = arguments;
        return name.text;
    }
    if (name.tells_result)
        read_type(w);
    const char *parameters = read_parameters(w);
    w->arguments = arguments;
    return w->lost ? "" : join(w, name.text, join(w, "(", parameters, ")"), name.qualifiers);
}

/* ---- templates' arguments */

/* After `L`. */
static const char *read_literal(struct walk *w) {
    static const char suffixes[][5] = {"i", "ju", "ll", "mul", "xll", "yull"}; /* a type, and what says it */
    const char *text, *type, code[2] = {*w->at, '\0'};
    if (take(w, "_Z") || take(w, "Z")) {
        text = read_encoding(w);
        w->lost |= !take(w, "E");
        return text;
    }
    type = read_type_text(w);
    const char *minus = take(w, "n") ? "-" : "";
    const char *start = w->at;
    while (*w->at && *w->at != 'E')
        w->at++;
    text = join(w, minus, copy(w, start, (size_t)(w->at - start)), "");
    w->lost |= !take(w, "E");
    if (strcmp(code, "b") == 0 && (strcmp(text, "0") == 0 || strcmp(text, "1") == 0))
        return *text == '0' ? "false" : "true";
    for (size_t k = 0; k < ARRAY_LEN(suffixes); k++)
        if (suffixes[k][0] == code[0])
            return join(w, text, suffixes[k] + 1, "");
    return join(w, join(w, "(", type, ")"), text, "");
}

static const char *read_argument(struct walk *w) {
    const char *text = "";
    if (*w->at == 'L')
        return read_expression(w);
    if (take(w, "X")) {
        text = read_expression(w);
        w->lost |= !take(w, "E");
        return text;
    }
    if (!take(w, "J"))
        return read_type_text(w);
    w->lost |= ++w->depth > DEPTH_MOST;
    while (goes_on(w))
        text = add_to_list(w, text, read_argument(w));
    w->depth--;
    return text;
}

/* At `I`: "<int, 4>"; from then on they are what T_ stands for. */
static const char *read_arguments(struct walk *w) {
    const struct arguments *before = w->arguments;
    const char *list = "", *at[ARGUMENTS_MOST];
    int count = 0;
    w->lost |= !take(w, "I") || ++w->depth > DEPTH_MOST;
    while (goes_on(w)) {
        w->lost |= count == ARGUMENTS_MOST;
        if (w->lost)
            break;
        at[count] = read_argument(w);
        list = add_to_list(w, list, at[count++]);
        w->arguments = before;
    }
    struct arguments *read = LE_NEW(w->arena, struct arguments);
    *read = (struct arguments){.at = le_arena_array(w->arena, (size_t)count, sizeof *at), .count = count};
    memcpy(read->at, at, (size_t)count * sizeof *at);
    w->depth--;
    w->arguments = read;
    size_t length = strlen(list);
    return join(w, "<", list, length && list[length - 1] == '>' ? " >" : ">");
}

/* ---- expressions: values, and addresses of them */

static const char *read_expression(struct walk *w) {
    const char *mark = take(w, "ad") ? "&" : "";
    if (*w->at == 'T')
        return join(w, mark, read_argument_seen(w), "");
    w->lost |= !take(w, "L");
    return w->lost ? "" : join(w, mark, read_literal(w), "");
}

/* ---- types */

static const char *read_builtin(struct walk *w) {
    static const char *const unsigneds[] = {"h", "char", "t", "short",     "j", "int",
                                            "m", "long", "y", "long long", "o", "__int128"};
    static const char *const others[] = {"v",  "void",           "b",  "bool",    "c",  "char",     "a",  "signed char",
                                         "s",  "short",          "i",  "int",     "l",  "long",     "x",  "long long",
                                         "n",  "__int128",       "f",  "float",   "d",  "double",   "e",  "long double",
                                         "g",  "__float128",     "w",  "wchar_t", "z",  "...",      "Da", "auto",
                                         "Dc", "decltype(auto)", "Dh", "half",    "Di", "char32_t", "Ds", "char16_t",
                                         "Du", "char8_t"};
    static const char *const longer[] = {"DF16_", "_Float16", "DF16b", "std::bfloat16_t", "Dn", "decltype(nullptr)"};
    const char *text = take_known(w, unsigneds, ARRAY_LEN(unsigneds));
    if (text)
        return join(w, "unsigned ", text, "");
    text = take_known(w, others, ARRAY_LEN(others));
    return text ? text : take_known(w, longer, ARRAY_LEN(longer));
}

static struct type plain(const char *text) {
    return (struct type){.left = text, .right = ""};
}

static struct type pointing(struct walk *w, struct type to, const char *mark) {
    const char *left = join(w, to.left, to.wraps ? " (" : "", mark);
    return (struct type){.left = left, .right = join(w, to.wraps ? ")" : "", to.right, "")};
}

/* A reference to a reference is one to what that refers to, and of two kinds the first. */
static struct type referring(struct walk *w, const char *mark) {
    struct type to = read_type(w);
    size_t length = strlen(to.left);
    bool refers = length && to.left[length - 1] == '&', twice = length > 1 && to.left[length - 2] == '&';
    if (!refers)
        return pointing(w, to, mark);
    if (twice && strcmp(mark, "&") == 0)
        to.left = copy(w, to.left, length - 1);
    return to;
}

/* After `F`. */
static struct type read_function(struct walk *w) {
    take(w, "Y");
    const char *result = read_type_text(w), *parameters = read_parameters(w);
    const char *refers = take(w, "R") ? " &" : take(w, "O") ? " &&" : "";
    w->lost |= !take(w, "E");
    return (struct type){.left = result, .right = join(w, join(w, "(", parameters, ")"), refers, ""), .wraps = true};
}

/* After `A`. */
static struct type read_array(struct walk *w) {
    const char *count = le_is_digit(*w->at) || *w->at == '_' ? read_digits(w) : read_expression(w);
    w->lost |= !take(w, "_");
    struct type of = read_type(w);
    const char *extent = le_arena_format(w->arena, "[%s]", count);
    return (struct type){.left = of.left, .right = join(w, of.wraps ? "" : " ", extent, of.right), .wraps = true};
}

/* After `M`. */
static struct type read_member(struct walk *w) {
    const char *owner = read_type_text(w);
    struct type of = read_type(w);
    if (!of.wraps)
        of.left = join(w, of.left, " ", "");
    return pointing(w, of, join(w, owner, "::*", ""));
}

static struct type read_qualified(struct walk *w) {
    take(w, "r");
    const char *is_volatile = take(w, "V") ? " volatile" : "", *is_constant = take(w, "K") ? " const" : "";
    struct type of = take(w, "F") ? read_function(w) : read_type(w); /* marks are part of a function's type */
    const char *marks = join(w, is_constant, is_volatile, "");
    if (of.wraps)
        of.right = join(w, of.right, marks, "");
    else
        of.left = join(w, of.left, marks, "");
    return of;
}

/* T_ or S_, perhaps with arguments. True: it is new, and to be kept. */
static bool read_again(struct walk *w, struct type *type) {
    bool is_argument = *w->at == 'T';
    *type = plain(is_argument ? read_argument_seen(w) : read_seen(w));
    if (*w->at != 'I')
        return is_argument;
    if (is_argument)
        keep(w, type->left);
    type->left = join(w, type->left, read_arguments(w), "");
    return true;
}

/* A type that is not builtin. False: it was kept before. */
static bool read_made(struct walk *w, struct type *type) {
    if (*w->at == 'T' || (*w->at == 'S' && w->at[1] != 't'))
        return read_again(w, type);
    if (*w->at == 'r' || *w->at == 'V' || *w->at == 'K')
        *type = read_qualified(w);
    else if (take(w, "P"))
        *type = pointing(w, read_type(w), "*");
    else if (take(w, "R"))
        *type = referring(w, "&");
    else if (take(w, "O"))
        *type = referring(w, "&&");
    else if (take(w, "F") || take(w, "DoF"))
        *type = read_function(w);
    else if (take(w, "A"))
        *type = read_array(w);
    else if (take(w, "M"))
        *type = read_member(w);
    else if (take(w, "Dp"))
        *type = read_type(w);
    else
        *type = plain(take(w, "u") ? read_source_name(w) : read_name(w).text);
    return true;
}

static struct type read_type(struct walk *w) {
    const struct arguments *arguments = w->arguments;
    const char *builtin = read_builtin(w);
    struct type type = plain("");
    if (builtin)
        return plain(builtin);
    w->lost |= ++w->depth > DEPTH_MOST || ++w->steps > STEPS_MOST;
    if (!w->lost && read_made(w, &type))
        keep(w, join(w, type.left, type.right, ""));
    w->depth--;
    w->arguments = arguments;
    return w->lost ? plain("") : type;
}

static const char *read_type_text(struct walk *w) {
    struct type type = read_type(w);
    return join(w, type.left, type.right, "");
}

const char *le_demangle(struct le_arena *arena, const char *symbol) {
    if (strncmp(symbol, "_Z", 2) != 0)
        return NULL;
    struct walk w; /* what was seen is much, and not looked at before it is written */
    w.arena = arena;
    w.at = symbol + 2;
    w.seen_count = w.depth = w.steps = w.bytes = 0;
    w.arguments = NULL;
    w.lost = false;
    const char *text = read_name(&w).text;
    return w.lost || !*text ? NULL : text;
}
