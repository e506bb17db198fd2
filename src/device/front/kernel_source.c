/* See kernel_source.h. One pass over the tokens of the text. Comments, strings and preprocessor lines are skipped;
 * macros are not expanded. */
#include "device/front/kernel_source.h"
#include "base/text.h"
#include "spec/type.h"
#include <setjmp.h>
#include <string.h>

/* ---- tokens: a word, a string, or one character */

struct scanner {
    const char *at, *token;
    size_t length; /* 0: the end of the text */
};

static bool is_word_start(char c) {
    return le_is_letter(c) || c == '_';
}

static const char *skip_line(const char *at) {
    while (*at && *at != '\n')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return at;
}

static const char *skip_comment(const char *at) {
    const char *end = at[1] == '*' ? strstr(at + 2, "*/") : NULL;
    if (at[1] == '/')
        return skip_line(at);
    return end ? end + 2 : at + strlen(at);
}

static const char *skip_string(const char *at) {
    char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return at + (*at == quote);
}

static void next_token(struct scanner *scan) {
    const char *at = scan->at;
    for (;;) {
        if (*at == ' ' || (unsigned)*at - '\t' < 5)
            at++;
        else if (at[0] == '/' && (at[1] == '/' || at[1] == '*'))
            at = skip_comment(at);
        else if (*at == '#')
            at = skip_line(at);
        else
            break;
    }
    scan->token = at;
    if (*at == '"' || *at == '\'')
        at = skip_string(at);
    else if (is_word_start(*at) || le_is_digit(*at))
        for (bool is_number = le_is_digit(*at); is_word_start(*at) || le_is_digit(*at);)
            at += is_number && at[1] == '\'' ? 2 : 1; /* 1'000 */
    else if (*at)
        at++;
    scan->length = (size_t)(at - scan->token);
    scan->at = at;
}

static bool is_token(const struct scanner *scan, const char *text) {
    return strlen(text) == scan->length && memcmp(scan->token, text, scan->length) == 0;
}

static bool is_any_token(const struct scanner *scan, const char *const *texts, size_t count) {
    bool found = false;
    for (size_t k = 0; k < count; k++)
        found |= is_token(scan, texts[k]);
    return found;
}

/* At an opening bracket: skips to after the matching closing one. */
static void skip_brackets(struct scanner *scan) {
    int depth = 0;
    do {
        depth += is_token(scan, "(") || is_token(scan, "[") || is_token(scan, "{");
        depth -= is_token(scan, ")") || is_token(scan, "]") || is_token(scan, "}");
        next_token(scan);
    } while (depth > 0 && scan->length);
}

/* ---- one parameter */

enum { WORDS_MAX = 8 };

/* The parts of a parameter's declaration, up to a default value. */
struct parameter_declaration {
    struct scanner words[WORDS_MAX]; /* without qualifiers */
    int word_count, stars, arrays;
    bool is_const; /* `const` before any star */
    bool is_odd;   /* has other parts: a template, a reference, a function */
};

static bool is_qualifier(const struct scanner *scan) {
    static const char *const QUALIFIERS[] = {"const",        "volatile",   "restrict",
                                             "__restrict__", "__restrict", "__grid_constant__"};
    return is_any_token(scan, QUALIFIERS, ARRAY_LEN(QUALIFIERS));
}

/* The type that the words name. 0: not a type that every compiler knows, or one through which any pointer may be read
 * (char). */
static leat_dtype dtype_of(const struct scanner *words, int count) {
    static const struct {
        const char *text;
        leat_dtype dtype;
    } TYPES[] = {{"float", LEAT_F32},         {"double", LEAT_F64},
                 {"float2", LEAT_C64},        {"double2", LEAT_C128},
                 {"int", LEAT_I32},           {"unsigned", LEAT_I32},
                 {"unsigned int", LEAT_I32},  {"signed int", LEAT_I32},
                 {"short", LEAT_I16},         {"unsigned short", LEAT_I16},
                 {"long", LEAT_I64},          {"unsigned long", LEAT_I64},
                 {"long long", LEAT_I64},     {"unsigned long long", LEAT_I64},
                 {"long long int", LEAT_I64}, {"unsigned long long int", LEAT_I64},
                 {"int16_t", LEAT_I16},       {"uint16_t", LEAT_I16},
                 {"int32_t", LEAT_I32},       {"uint32_t", LEAT_I32},
                 {"int64_t", LEAT_I64},       {"uint64_t", LEAT_I64},
                 {"size_t", LEAT_I64}};
    char text[64] = "";
    size_t length = 0;
    for (int k = 0; k < count; k++) {
        if (length + words[k].length + 2 > sizeof text)
            return (leat_dtype)0;
        if (k)
            text[length++] = ' ';
        memcpy(text + length, words[k].token, words[k].length);
        text[length += words[k].length] = '\0';
    }
    for (size_t k = 0; k < ARRAY_LEN(TYPES); k++)
        if (strcmp(text, TYPES[k].text) == 0)
            return TYPES[k].dtype;
    return (leat_dtype)0;
}

/* Whether the word cannot be a parameter's name. */
static bool is_type_word(const struct scanner *word) {
    static const char *const WORDS[] = {"float", "double", "int",    "unsigned", "signed", "short", "long",    "char",
                                        "bool",  "void",   "struct", "class",    "enum",   "auto",  "typename"};
    return is_any_token(word, WORDS, ARRAY_LEN(WORDS));
}

/* If there are too many words, the last one replaces the one before it. */
static void add_word(struct parameter_declaration *declaration, const struct scanner *word) {
    declaration->is_odd |= declaration->word_count == WORDS_MAX;
    declaration->word_count -= declaration->word_count == WORDS_MAX;
    declaration->words[declaration->word_count++] = *word;
}

/* Reads up to the comma or parenthesis that ends the parameter. */
static void read_declaration(struct scanner *scan, struct parameter_declaration *declaration) {
    int angles = 0;
    bool has_default = false;
    *declaration = (struct parameter_declaration){0};
    while (scan->length && !is_token(scan, ")") && !is_token(scan, ";") && (angles > 0 || !is_token(scan, ","))) {
        if (is_token(scan, "(") || is_token(scan, "{") || is_token(scan, "[")) {
            declaration->arrays += is_token(scan, "[");
            declaration->is_odd |= !is_token(scan, "[") && !has_default;
            skip_brackets(scan);
            continue;
        }
        angles += is_token(scan, "<") - is_token(scan, ">");
        has_default |= is_token(scan, "=");
        declaration->is_const |= angles == 0 && declaration->stars == 0 && is_token(scan, "const");
        if (!has_default && is_token(scan, "*"))
            declaration->stars++;
        else if (!has_default && !is_word_start(*scan->token))
            declaration->is_odd = true;
        else if (!has_default && angles == 0 && !is_qualifier(scan))
            add_word(declaration, scan);
        next_token(scan);
    }
}

/* The name is the last word, if others precede it. */
static struct le_source_parameter parameter_of(const struct parameter_declaration *declaration,
                                               struct le_arena *arena) {
    struct le_source_parameter parameter = {.name = ""};
    int types = declaration->word_count;
    const struct scanner *last = types ? &declaration->words[types - 1] : NULL;
    if (types > 1 && !is_type_word(last)) {
        parameter.name = le_arena_copy(arena, last->token, last->length);
        types--;
    }
    if (!declaration->is_odd && declaration->stars + declaration->arrays == 1)
        parameter.pointee = dtype_of(declaration->words, types);
    parameter.is_const = declaration->is_const && declaration->stars + declaration->arrays == 1;
    parameter.is_pointer = !declaration->is_odd && declaration->stars + declaration->arrays > 0;
    return parameter;
}

/* ---- one kernel */

/* Starts at the opening parenthesis. */
static void read_parameters(struct scanner *scan, struct le_arena *arena, struct le_source_kernel *kernel) {
    struct parameter_declaration declaration;
    struct le_source_parameters *parameters = &kernel->parameters;
    do {
        next_token(scan);
        read_declaration(scan, &declaration);
        *LE_PUSH(arena, parameters) = parameter_of(&declaration, arena);
    } while (is_token(scan, ","));
    bool is_void = declaration.word_count == 1 && is_token(&declaration.words[0], "void") && declaration.stars == 0;
    if (parameters->count == 1 && (declaration.word_count == 0 || is_void))
        parameters->count = 0;
}

/* Starts after `__global__`: attributes and result type, then the name, and template arguments if it is a
 * specialization. false: not understood. */
static bool read_kernel(struct scanner *scan, struct le_arena *arena, struct le_source_kernel *kernel) {
    struct scanner name = {0};
    for (; scan->length && !is_token(scan, ";") && !is_token(scan, "{") && !is_token(scan, "}"); next_token(scan)) {
        bool is_attribute = name.length > 1 && memcmp(name.token, "__", 2) == 0;
        if (is_token(scan, "(") && name.length && !is_attribute) {
            kernel->name = le_arena_copy(arena, name.token, name.length);
            read_parameters(scan, arena, kernel);
            return is_token(scan, ")");
        }
        if (is_token(scan, "(") || is_token(scan, "["))
            skip_brackets(scan);
        if (is_word_start(*scan->token))
            name = *scan;
        else if (is_token(scan, "<"))
            while (scan->length && !is_token(scan, ">") && !is_token(scan, ";"))
                next_token(scan);
    }
    return false;
}

/* ---- combining facts from the compiler and from the text */

static const char *last_part(const char *name) {
    for (const char *at = name; (at = strstr(at, "::")) != NULL; name = at)
        at += 2;
    return name;
}

/* Keeps what all declarations of a kernel agree on. A name that one of them omits is taken from another. */
static void merge_kernel(struct le_source_kernel *into, const struct le_source_kernel *other) {
    into->is_template |= other->is_template;
    into->is_ambiguous |= into->parameters.count != other->parameters.count;
    for (int k = 0; k < into->parameters.count && !into->is_ambiguous; k++) {
        struct le_source_parameter *mine = &into->parameters.at[k];
        const struct le_source_parameter *theirs = &other->parameters.at[k];
        mine->pointee = mine->pointee == theirs->pointee ? mine->pointee : (leat_dtype)0;
        mine->is_const = mine->is_const && theirs->is_const;
        mine->is_pointer = mine->is_pointer && theirs->is_pointer;
        into->is_ambiguous |= *mine->name && *theirs->name && strcmp(mine->name, theirs->name) != 0;
        mine->name = *mine->name ? mine->name : theirs->name;
    }
}

static void add_kernel(struct le_arena *arena, struct le_source_kernels *kernels,
                       const struct le_source_kernel *kernel) {
    for (int k = 0; k < kernels->count; k++)
        if (strcmp(kernels->at[k].name, kernel->name) == 0) {
            merge_kernel(&kernels->at[k], kernel);
            return;
        }
    *LE_PUSH(arena, kernels) = *kernel;
}

void le_kernel_source_read(const char *text, struct le_arena *arena, struct le_source_kernels *kernels) {
    struct scanner scan = {.at = text};
    bool after_template = false, is_template = false; /* of the declaration; `template f<int>` is an instance */
    for (next_token(&scan); scan.length; next_token(&scan)) {
        struct le_source_kernel kernel = {.name = ""};
        is_template |= after_template && is_token(&scan, "<");
        after_template = is_token(&scan, "template");
        if (is_token(&scan, ";") || is_token(&scan, "{") || is_token(&scan, "}"))
            is_template = false;
        if (!is_token(&scan, "__global__"))
            continue;
        kernel.is_template = is_template;
        is_template = false;
        next_token(&scan);
        if (read_kernel(&scan, arena, &kernel))
            add_kernel(arena, kernels, &kernel);
    }
}

static void refine_kernel(struct le_ptx_kernel *entry, const struct le_source_kernel *kernel) {
    if (kernel->is_ambiguous || kernel->parameters.count != entry->parameter_count)
        return;
    for (int k = 0; k < entry->parameter_count; k++) {
        struct le_parameter *parameter = &entry->parameters[k];
        parameter->name = kernel->parameters.at[k].name;
        parameter->is_const = parameter->may_be_pointer && kernel->parameters.at[k].is_const;
        parameter->is_declared_pointer = parameter->may_be_pointer && kernel->parameters.at[k].is_pointer;
        if (!parameter->pointee && parameter->may_be_pointer)
            parameter->pointee = kernel->parameters.at[k].pointee;
    }
}

void le_kernel_source_refine(const char *text, struct le_ptx *ptx) {
    struct le_source_kernels kernels = {0};
    if (setjmp(ptx->arena.failure)) /* out of memory: keep what is known */
        return;
    le_kernel_source_read(text, &ptx->arena, &kernels);
    for (int k = 0; k < kernels.count; k++)
        if (kernels.at[k].is_template)
            *LE_PUSH(&ptx->arena, &ptx->templates) = kernels.at[k].name;
    for (int k = 0; k < ptx->kernels.count; k++)
        for (int known = 0; known < kernels.count; known++)
            if (strcmp(last_part(ptx->kernels.at[k].name), kernels.at[known].name) == 0)
                refine_kernel(&ptx->kernels.at[k], &kernels.at[known]);
}
