/* See demangle.h. Names, template arguments and expressions; types are demangle_types.c. */
#include "base/demangle_walk.h"
#include "base/status.h"

static const char *read_encoding(struct le_symbol_walk *w);

/* ---- names */

static const char unnamed[] = "(anon)"; /* unnamed namespaces of g++ and clang, and nvcc's for internal linkage */

const char *le_demangle_source_name(struct le_symbol_walk *w) {
    size_t length = 0;
    while (le_is_digit(*w->at) && length < TEXT_BYTES)
        length = length * 10 + (size_t)(*w->at++ - '0');
    const char *start = w->at;
    w->lost |= length == 0 || length >= TEXT_BYTES || strnlen(start, length) < length;
    if (w->lost)
        return "";
    w->at += length;
    if (length > 10 && (strncmp(start, "_GLOBAL__N", 10) == 0 || strncmp(start, "_INTERNAL_", 10) == 0))
        return unnamed;
    return copy(w, start, length);
}

static const char *read_operator(struct le_symbol_walk *w) {
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

/* After `Ul`: "{lambda(int)#1}". */
static const char *read_lambda(struct le_symbol_walk *w) {
    const struct le_symbol_arguments *arguments = w->arguments;
    w->arguments = NULL; /* T_ in it means an auto parameter */
    const char *parameters = le_demangle_parameters(w, NULL);
    w->arguments = arguments;
    expect(w, "E");
    return w->lost ? "" : le_arena_format(w->arena, "{lambda(%s)#%d}", parameters, read_number_in_base(w, 10) + 1);
}

static const char *read_part(struct le_symbol_walk *w) {
    const char *text = "", *operation;
    take(w, "L"); /* internal linkage */
    if (le_is_digit(*w->at))
        text = le_demangle_source_name(w);
    else if (take(w, "Ul"))
        text = read_lambda(w);
    else if (take(w, "Ut"))
        text = le_arena_format(w->arena, "{unnamed type#%d}", read_number_in_base(w, 10) + 1);
    else if (take(w, "cv"))
        text = join(w, "operator ", type_text(w, le_demangle_type(w)), "");
    else if ((operation = read_operator(w)))
        text = join(w, "operator", operation, "");
    else
        w->lost = true;
    while (take(w, "B"))
        le_demangle_source_name(w);
    return text;
}

static const char *read_standard(struct le_symbol_walk *w) {
    static const char *const known[] = {"St", "std",          "Sa", "std::allocator", "Sb", "std::basic_string",
                                        "Ss", "std::string",  "Si", "std::istream",   "So", "std::ostream",
                                        "Sd", "std::iostream"};
    return take_known(w, known, ARRAY_LEN(known));
}

struct le_symbol_type le_demangle_substitution(struct le_symbol_walk *w) {
    const char *standard = read_standard(w);
    if (standard)
        return plain_type(standard);
    expect(w, "S");
    int place = read_number_in_base(w, 36);
    w->lost |= place >= w->seen_count;
    return w->lost ? plain_type("") : w->seen[place];
}

struct le_symbol_type le_demangle_template_parameter(struct le_symbol_walk *w) {
    expect(w, "T");
    int place = read_number_in_base(w, 10);
    if (!w->lost && !w->arguments)
        return plain_type("auto");
    w->lost |= w->lost || place >= w->arguments->count;
    return w->lost ? plain_type("") : w->arguments->at[place];
}

/* The last part of a name: "B" of "ns::A<x::y>::B<int>". */
static const char *last_part(struct le_symbol_walk *w, const char *text) {
    const char *start = text;
    int depth = 0;
    for (const char *at = text; *at; at++) {
        depth += (strchr("<({", *at) != NULL) - (strchr(">)}", *at) != NULL);
        if (depth == 0 && at[0] == ':' && at[1] == ':')
            start = at + 2;
    }
    return copy(w, start, strcspn(start, "<"));
}

static void add_part(struct le_symbol_walk *w, struct le_symbol_name *name, const char *before, const char *part) {
    name->text = join(w, name->text, before, part);
    if (part != unnamed)
        name->plain = join(w, name->plain, *name->plain ? before : "", part);
}

static void add_arguments(struct le_symbol_walk *w, struct le_symbol_name *name) {
    const char *space = ends_with(name->text, '<') ? " " : ""; /* operator<< <int> */
    name->text = join(w, name->text, space, le_demangle_arguments(w));
    name->is_template = true;
}

/* Adds a part to a nested name. Returns whether the name up to it may be referred to later. */
static bool read_nested_part(struct le_symbol_walk *w, struct le_symbol_name *name) {
    bool is_first = !*name->text;
    if (*w->at == 'I') {
        add_arguments(w, name);
        return true;
    }
    name->is_template = false;
    if (*w->at == 'S' || *w->at == 'T') {
        bool is_argument = *w->at == 'T';
        w->lost |= !is_first;
        name->text = name->plain =
            type_text(w, is_argument ? le_demangle_template_parameter(w) : le_demangle_substitution(w));
        name->last = last_part(w, name->text);
        return is_argument;
    }
    bool destroys = *w->at == 'D', makes = *w->at == 'C';
    if ((makes || destroys) && le_is_digit(w->at[1])) {
        w->at += 2;
        name->has_no_result = true;
        add_part(w, name, destroys ? "::~" : "::", name->last);
        return true;
    }
    name->has_no_result = strncmp(w->at, "cv", 2) == 0;
    name->last = read_part(w);
    add_part(w, name, is_first ? "" : "::", name->last);
    return true;
}

/* After `N`. */
static struct le_symbol_name read_nested(struct le_symbol_walk *w) {
    struct le_symbol_name name = {.text = "", .last = "", .plain = "", .qualifiers = ""};
    bool is_kept = false;
    take(w, "r");
    const char *is_volatile = take(w, "V") ? " volatile" : "";
    name.qualifiers = join(w, take(w, "K") ? " const" : "", is_volatile, "");
    name.qualifiers = join(w, name.qualifiers, take(w, "R") ? " &" : take(w, "O") ? " &&" : "", "");
    while (goes_on(w)) {
        if (take(w, "M")) /* a data member, whose initializer contains what follows */
            continue;
        is_kept = read_nested_part(w, &name);
        if (is_kept)
            keep(w, plain_type(name.text));
    }
    w->lost |= !is_kept;
    w->seen_count -= is_kept && w->seen_count > 0; /* the caller adds the whole name again if it is a type */
    return name;
}

/* After `Z`: an entity local to a function. */
static struct le_symbol_name read_local(struct le_symbol_walk *w) {
    const char *function = read_encoding(w);
    struct le_symbol_name name = {.text = "string literal", .last = "", .plain = "string literal", .qualifiers = ""};
    expect(w, "E");
    if (!take(w, "s")) {
        if (take(w, "d"))
            read_number_in_base(w, 10);
        name = le_demangle_name(w);
    }
    name.text = join(w, function, "::", name.text);
    name.plain = join(w, function, "::", name.plain);
    if (take(w, "__")) {
        read_digits(w);
        expect(w, "_");
    } else if (*w->at == '_' && le_is_digit(w->at[1])) {
        w->at += 2;
    }
    return name;
}

static struct le_symbol_name read_name_within(struct le_symbol_walk *w) {
    struct le_symbol_name name = {.text = "", .last = "", .plain = "", .qualifiers = ""};
    if (take(w, "N"))
        return read_nested(w);
    if (take(w, "Z"))
        return read_local(w);
    if (*w->at == 'S' && w->at[1] != 't') {
        name.text = name.plain = type_text(w, le_demangle_substitution(w));
        w->lost |= *w->at != 'I';
    } else {
        const char *before = take(w, "St") ? "std::" : "";
        name.last = read_part(w);
        name.text = name.plain = join(w, before, name.last, "");
        if (*w->at == 'I')
            keep(w, plain_type(name.text));
    }
    if (*w->at == 'I')
        add_arguments(w, &name);
    return name;
}

struct le_symbol_name le_demangle_name(struct le_symbol_walk *w) {
    w->lost |= ++w->depth > DEPTH_MOST;
    struct le_symbol_name name = read_name_within(w);
    w->depth--;
    return name;
}

static void skip_result(struct le_symbol_walk *w, const struct le_symbol_name *name) {
    if (name->is_template && !name->has_no_result)
        le_demangle_type(w);
}

/* The function that contains a local entity, with its parameters. */
static const char *read_encoding(struct le_symbol_walk *w) {
    const struct le_symbol_arguments *arguments = w->arguments;
    w->arguments = NULL;
    struct le_symbol_name name = le_demangle_name(w);
    if (w->lost || !*w->at || *w->at == 'E') {
        w->arguments = arguments;
        return name.text;
    }
    skip_result(w, &name);
    const char *parameters = le_demangle_parameters(w, NULL);
    w->arguments = arguments;
    return w->lost ? "" : join(w, name.text, join(w, "(", parameters, ")"), name.qualifiers);
}

/* ---- template arguments */

/* After `L`. */
static const char *read_literal(struct le_symbol_walk *w) {
    static const char suffixes[][5] = {"i", "ju", "ll", "mul", "xll", "yull"}; /* the code of a type, then its suffix */
    const char *text, *type, code[2] = {*w->at, '\0'};
    if (take(w, "_Z") || take(w, "Z")) {
        text = read_encoding(w);
        expect(w, "E");
        return text;
    }
    type = type_text(w, le_demangle_type(w));
    const char *minus = take(w, "n") ? "-" : "";
    const char *start = w->at;
    while (*w->at && *w->at != 'E')
        w->at++;
    text = join(w, minus, copy(w, start, (size_t)(w->at - start)), "");
    expect(w, "E");
    if (strcmp(code, "b") == 0 && (strcmp(text, "0") == 0 || strcmp(text, "1") == 0))
        return *text == '0' ? "false" : "true";
    for (size_t k = 0; k < ARRAY_LEN(suffixes); k++)
        if (suffixes[k][0] == code[0])
            return join(w, text, suffixes[k] + 1, "");
    return join(w, join(w, "(", type, ")"), text, "");
}

static struct le_symbol_type read_argument(struct le_symbol_walk *w) {
    struct le_symbol_type type = plain_type("");
    if (*w->at == 'L')
        return plain_type(le_demangle_expression(w));
    if (take(w, "X")) {
        type.left = le_demangle_expression(w);
        expect(w, "E");
        return type;
    }
    if (!take(w, "J"))
        return le_demangle_type(w);
    w->lost |= ++w->depth > DEPTH_MOST;
    while (goes_on(w))
        type.left = add_to_list(w, type.left, type_text(w, read_argument(w)));
    w->depth--;
    return type;
}

const char *le_demangle_arguments(struct le_symbol_walk *w) {
    const struct le_symbol_arguments *before = w->arguments;
    struct le_symbol_arguments *read = LE_NEW(w->arena, struct le_symbol_arguments);
    const char *list = "";
    w->lost |= !take(w, "I") || ++w->depth > DEPTH_MOST;
    while (goes_on(w)) {
        struct le_symbol_type argument = read_argument(w);
        list = add_to_list(w, list, type_text(w, argument));
        w->lost |= read->count == ARGUMENTS_MOST;
        *LE_PUSH(w->arena, read) = argument;
        w->arguments = before;
    }
    w->depth--;
    w->arguments = read;
    return join(w, "<", list, ends_with(list, '>') ? " >" : ">");
}

/* ---- expressions: values, and addresses of them */

const char *le_demangle_expression(struct le_symbol_walk *w) {
    const char *mark = take(w, "ad") ? "&" : "";
    if (*w->at == 'T')
        return join(w, mark, type_text(w, le_demangle_template_parameter(w)), "");
    expect(w, "L");
    return w->lost ? "" : join(w, mark, read_literal(w), "");
}

/* ---- symbols */

/* Initializes the walk at the start of the symbol's name. The walk is not zeroed: `seen` is large, and its entries are
 * written before they are read. */
static bool start_walk(struct le_symbol_walk *w, struct le_arena *arena, const char *symbol, bool as_in_sources) {
    w->arena = arena;
    w->at = symbol;
    w->seen_count = w->depth = w->steps = w->bytes = 0;
    w->arguments = NULL;
    w->as_in_sources = as_in_sources;
    w->lost = false;
    return take(w, "_Z");
}

const char *le_demangle(struct le_arena *arena, const char *symbol) {
    struct le_symbol_walk w;
    if (!start_walk(&w, arena, symbol, false))
        return NULL;
    const char *text = le_demangle_name(&w).text;
    return w.lost || !*text ? NULL : text;
}

void le_demangle_function(struct le_arena *arena, const char *symbol, struct le_demangled_function *function) {
    struct le_symbol_walk w;
    struct le_symbol_name name = {.plain = ""};
    *function = (struct le_demangled_function){.parameter_list = ""};
    if (start_walk(&w, arena, symbol, true))
        name = le_demangle_name(&w);
    if (w.lost || !*name.plain) {
        size_t length = strcspn(symbol, "<");
        function->name = function->last = le_arena_copy(arena, symbol, length);
        function->is_template = symbol[length] == '<';
        return;
    }
    function->name = name.plain;
    function->last = name.last;
    function->is_template = name.is_template;
    skip_result(&w, &name);
    const char *list = le_demangle_parameters(&w, function);
    if (!w.lost && (!*w.at || *w.at == '.'))
        function->parameter_list = list;
}
