/* See demangle.h. Types and parameter lists. */
#include "base/demangle_walk.h"
#include "base/status.h"

/* Reads a builtin type. The code of a number type is one letter. */
static bool read_builtin(struct le_symbol_walk *w, struct le_symbol_type *type) {
    /* clang-format off */
    static const char *const known[] = {
        "v", "void", "b", "bool", "c", "char", "a", "signed char", "h", "unsigned char", "w", "wchar_t",
        "s", "short", "t", "unsigned short", "i", "int", "j", "unsigned int", "l", "long", "m", "unsigned long",
        "x", "long long", "y", "unsigned long long", "n", "__int128", "o", "unsigned __int128",
        "f", "float", "d", "double", "e", "long double", "g", "__float128", "z", "...",
        "Da", "auto", "Dc", "decltype(auto)", "Dh", "half", "Di", "char32_t", "Ds", "char16_t", "Du", "char8_t",
        "DF16_", "_Float16", "DF16b", "std::bfloat16_t", "Dn", "decltype(nullptr)"};
    /* clang-format on */
    const char *start = w->at;
    *type = plain_type(take_known(w, known, ARRAY_LEN(known)));
    if (type->left && w->at == start + 1)
        type->fact = (struct le_demangled_parameter){LE_DEMANGLED_NUMBER, *start};
    return type->left;
}

/* Whether the type is a function or an array; a pointer to one needs parentheses. */
static bool needs_parentheses(struct le_symbol_type type) {
    return *type.right == '(' || *type.right == ' ';
}

static struct le_symbol_type make_pointer(struct le_symbol_walk *w, struct le_symbol_type to, const char *space,
                                          const char *mark) {
    const char *left = join(w, to.left, !needs_parentheses(to) ? space : *to.right == '(' ? "(" : " (", mark);
    return (struct le_symbol_type){.left = left, .right = join(w, needs_parentheses(to) ? ")" : "", to.right, "")};
}

/* In the style of sources there is a space before the first `*` or `&`. */
static const char *space_before_mark(const struct le_symbol_walk *w, const char *left) {
    return w->as_in_sources && !ends_with(left, '*') ? " " : "";
}

/* After `P`. */
static struct le_symbol_type read_pointer(struct le_symbol_walk *w) {
    struct le_symbol_type to = le_demangle_type(w), type = make_pointer(w, to, space_before_mark(w, to.left), "*");
    bool is_known = to.fact.kind == LE_DEMANGLED_NUMBER;
    type.fact = (struct le_demangled_parameter){LE_DEMANGLED_POINTER, is_known ? to.fact.code : '\0'};
    return type;
}

/* Reference collapsing: a reference to a reference is an rvalue reference only if both are. */
static struct le_symbol_type read_reference(struct le_symbol_walk *w, const char *mark) {
    struct le_symbol_type to = le_demangle_type(w);
    size_t length = strlen(to.left);
    bool refers = ends_with(to.left, '&'), twice = length > 1 && to.left[length - 2] == '&';
    if (!refers)
        return make_pointer(w, to, space_before_mark(w, to.left), mark);
    if (twice && strcmp(mark, "&") == 0)
        to.left = copy(w, to.left, length - 1);
    return to;
}

/* After `F`. */
static struct le_symbol_type read_function(struct le_symbol_walk *w) {
    take(w, "Y");
    struct le_symbol_type result = le_demangle_type(w);
    const char *parameters = le_demangle_parameters(w, NULL);
    const char *refers = take(w, "R") ? " &" : take(w, "O") ? " &&" : "";
    expect(w, "E");
    parameters = join(w, join(w, "(", parameters, ")"), refers, result.right);
    return (struct le_symbol_type){.left = join(w, result.left, *result.right ? "" : " ", ""), .right = parameters};
}

/* After `A`. */
static struct le_symbol_type read_array(struct le_symbol_walk *w) {
    const char *count = le_is_digit(*w->at) || *w->at == '_' ? read_digits(w) : le_demangle_expression(w);
    expect(w, "_");
    struct le_symbol_type of = le_demangle_type(w);
    const char *extent = le_arena_format(w->arena, " [%s]", count);
    return (struct le_symbol_type){.left = of.left, .right = join(w, extent, of.right + (*of.right == ' '), "")};
}

/* After `M`. */
static struct le_symbol_type read_member(struct le_symbol_walk *w) {
    const char *owner = type_text(w, le_demangle_type(w));
    struct le_symbol_type of = le_demangle_type(w);
    return make_pointer(w, of, " ", join(w, owner, "::*", ""));
}

static struct le_symbol_type read_qualified(struct le_symbol_walk *w) {
    take(w, "r");
    const char *is_volatile = take(w, "V") ? " volatile" : "", *is_constant = take(w, "K") ? " const" : "";
    struct le_symbol_type of =
        take(w, "F") ? read_function(w) : le_demangle_type(w); /* qualifiers are part of a function type */
    const char *marks = join(w, is_constant, is_volatile, "");
    if (*of.right == '(')
        of.right = join(w, of.right, marks, "");
    else if (*marks && w->as_in_sources && !ends_with(of.left, '*'))
        of.left = join(w, marks + 1, " ", of.left);
    else
        of.left = join(w, of.left, marks, "");
    return of;
}

/* Reads T_ or S_, perhaps with template arguments. Returns whether the type is new, so that the symbol may refer to it.
 */
static bool read_substitution(struct le_symbol_walk *w, struct le_symbol_type *type) {
    bool is_argument = *w->at == 'T';
    *type = is_argument ? le_demangle_template_parameter(w) : le_demangle_substitution(w);
    if (*w->at != 'I')
        return is_argument;
    if (is_argument)
        keep(w, *type);
    *type = plain_type(join(w, type->left, le_demangle_arguments(w), ""));
    return true;
}

/* Reads a type that is not builtin. Returns whether it is new, so that the symbol may refer to it. */
static bool read_compound(struct le_symbol_walk *w, struct le_symbol_type *type) {
    if (*w->at == 'T' || (*w->at == 'S' && w->at[1] != 't'))
        return read_substitution(w, type);
    if (*w->at == 'r' || *w->at == 'V' || *w->at == 'K')
        *type = read_qualified(w);
    else if (take(w, "P"))
        *type = read_pointer(w);
    else if (take(w, "R"))
        *type = read_reference(w, "&");
    else if (take(w, "O"))
        *type = read_reference(w, "&&");
    else if (take(w, "F") || take(w, "DoF"))
        *type = read_function(w);
    else if (take(w, "A"))
        *type = read_array(w);
    else if (take(w, "M"))
        *type = read_member(w);
    else if (take(w, "Dp"))
        *type = le_demangle_type(w);
    else
        *type = plain_type(take(w, "u") ? le_demangle_source_name(w) : le_demangle_name(w).text);
    return true;
}

struct le_symbol_type le_demangle_type(struct le_symbol_walk *w) {
    const struct le_symbol_arguments *arguments = w->arguments;
    struct le_symbol_type type;
    if (read_builtin(w, &type))
        return type;
    type = plain_type("");
    w->lost |= ++w->depth > DEPTH_MOST || ++w->steps > STEPS_MOST;
    if (!w->lost && read_compound(w, &type))
        keep(w, type);
    w->depth--;
    w->arguments = arguments;
    return w->lost ? plain_type("") : type;
}

/* ---- parameters */

static bool ends_parameters(struct le_symbol_walk *w) {
    return w->lost || !*w->at || strchr("E.", *w->at) || strncmp(w->at, "RE", 2) == 0 || strncmp(w->at, "OE", 2) == 0;
}

const char *le_demangle_parameters(struct le_symbol_walk *w, struct le_demangled_function *function) {
    const char *list = "";
    if (take(w, "v"))
        return list;
    while (!ends_parameters(w)) {
        w->lost |= function && strncmp(w->at, "Dp", 2) == 0; /* a parameter pack: any number of parameters */
        struct le_symbol_type type = le_demangle_type(w);
        list = add_to_list(w, list, type_text(w, type));
        if (function && !w->lost)
            *LE_PUSH(w->arena, &function->parameters) = type.fact;
    }
    return list;
}
