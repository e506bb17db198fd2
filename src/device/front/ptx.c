/* See ptx.h. One pass over the tokens, with one token of lookahead: a word, a number or a single character. */
#include "device/front/ptx.h"
#include "base/demangle.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *at;
    const char *token; /* points into the text; length 0: the end */
    size_t length;
    struct le_ptx *ptx;
};

/* ---- tokens */

static bool is_word(char c) {
    return le_is_letter(c) || le_is_digit(c) || c == '_' || c == '$' || c == '.' || c == '%';
}

static bool is_blank(char c) {
    return c == ' ' || (unsigned)c - '\t' < 5;
}

static const char *skip_blanks(const char *at) {
    for (;;) {
        while (is_blank(*at))
            at++;
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

static void next_token(struct reader *reader) {
    const char *at = skip_blanks(reader->at);
    reader->token = at;
    if (*at == '"') {
        at += 1 + strcspn(at + 1, "\"");
        at += *at == '"';
    } else if (is_word(*at)) {
        while (is_word(*at))
            at++;
    } else if (*at) {
        at++;
    }
    reader->length = (size_t)(at - reader->token);
    reader->at = at;
}

static bool is_token(const struct reader *reader, const char *text) {
    return strlen(text) == reader->length && memcmp(reader->token, text, reader->length) == 0;
}

static bool take_token(struct reader *reader, const char *text) {
    bool found = is_token(reader, text);
    if (found)
        next_token(reader);
    return found;
}

static size_t take_number(struct reader *reader) {
    size_t number = le_is_digit(*reader->token) ? (size_t)strtoull(reader->token, NULL, 0) : 0;
    next_token(reader);
    return number;
}

/* ---- parameters */

struct scalar {
    const char *name;
    leat_dtype dtype;
    size_t size_bytes;
};
static const struct scalar SCALARS[] = {
    {".u8", LEAT_I8, 1},   {".s8", LEAT_I8, 1},   {".u16", LEAT_I16, 2}, {".s16", LEAT_I16, 2}, {".u32", LEAT_I32, 4},
    {".s32", LEAT_I32, 4}, {".u64", LEAT_I64, 8}, {".s64", LEAT_I64, 8}, {".f16", LEAT_F16, 2}, {".bf16", LEAT_BF16, 2},
    {".f32", LEAT_F32, 4}, {".f64", LEAT_F64, 8}, {".b8", 0, 1},         {".b16", 0, 2},        {".b32", 0, 4},
    {".b64", LEAT_I64, 8}, {".b128", 0, 16}};

static const struct scalar *find_scalar(const struct reader *reader) {
    for (size_t k = 0; k < ARRAY_LEN(SCALARS); k++)
        if (is_token(reader, SCALARS[k].name))
            return &SCALARS[k];
    return NULL;
}

struct parameters {
    struct named_parameter {
        struct le_parameter fact;
        const char *name;
    } * at;
    int count, capacity;
};

/* Whether the token is the parenthesis after the last parameter. The simulator's names may contain parentheses too:
 * fill<float,(3)>. */
static bool ends_parameters(const struct reader *reader) {
    struct reader behind = *reader;
    if (!is_token(reader, ")"))
        return !reader->length;
    next_token(&behind);
    return !behind.length || is_token(&behind, "{") || is_token(&behind, ";") || *behind.token == '.';
}

/* The same, or the comma before the next parameter. */
static bool ends_parameter(const struct reader *reader) {
    struct reader behind = *reader;
    if (ends_parameters(reader))
        return true;
    next_token(&behind);
    return is_token(reader, ",") && is_token(&behind, ".param");
}

/* Reads a parameter: starts after `.param`, ends at the comma or parenthesis. */
static void read_parameter(struct reader *reader, struct parameters *parameters) {
    struct named_parameter *parameter = LE_PUSH(&reader->ptx->arena, parameters);
    *parameter = (struct named_parameter){{.name = ""}, ""};
    const struct scalar *scalar = NULL;
    while (!ends_parameter(reader)) {
        const struct scalar *found = find_scalar(reader);
        if (found) {
            scalar = found;
            next_token(reader);
        } else if (take_token(reader, ".align")) {
            parameter->fact.align_bytes = take_number(reader);
        } else if (take_token(reader, ".ptr")) {
            parameter->fact.is_pointer = true;
            take_token(reader, ".global");
            if (take_token(reader, ".align"))
                take_number(reader);
        } else if (take_token(reader, "[")) {
            parameter->fact.size_bytes = take_number(reader) * (scalar ? scalar->size_bytes : 1);
        } else {
            if (is_word(*reader->token) && *reader->token != '.' && !*parameter->name)
                parameter->name = le_arena_copy(&reader->ptx->arena, reader->token, reader->length);
            next_token(reader);
        }
    }
    if (parameter->fact.size_bytes == 0 && scalar) {
        parameter->fact.size_bytes = scalar->size_bytes;
        parameter->fact.dtype = scalar->dtype;
        parameter->fact.may_be_pointer = scalar->size_bytes == 8 && scalar->dtype == LEAT_I64;
    }
    if (parameter->fact.align_bytes == 0)
        parameter->fact.align_bytes = scalar ? scalar->size_bytes : 1;
}

static void read_parameters(struct reader *reader, struct parameters *parameters) {
    if (!take_token(reader, "("))
        return;
    while (!ends_parameters(reader))
        if (take_token(reader, ".param"))
            read_parameter(reader, parameters);
        else
            next_token(reader);
    take_token(reader, ")");
    size_t offset_bytes = 0;
    for (int k = 0; k < parameters->count; k++) {
        struct le_parameter *fact = &parameters->at[k].fact;
        size_t rest = fact->align_bytes ? offset_bytes % fact->align_bytes : 0;
        fact->offset_bytes = offset_bytes + (rest ? fact->align_bytes - rest : 0);
        offset_bytes = fact->offset_bytes + fact->size_bytes;
    }
}

/* Reads the simulator's `.pointees .f32 .none`, one for each parameter. */
static void read_pointees(struct reader *reader, struct parameters *parameters) {
    for (int k = 0; k < parameters->count && !is_token(reader, "{"); k++, next_token(reader)) {
        const struct scalar *pointee = find_scalar(reader);
        parameters->at[k].fact.pointee = pointee ? pointee->dtype : (leat_dtype)0;
    }
}

/* ---- a body: ld.param.u64 %rd1, [f_param_0]; cvta.to.global.u64 %rd2, %rd1; */

static bool token_starts(const struct reader *reader, const char *text) {
    size_t length = strlen(text);
    return reader->length >= length && memcmp(reader->token, text, length) == 0;
}

struct registers {
    struct le_names of; /* register name: index of the parameter it was loaded from */
};

static void read_load(struct reader *reader, const struct le_names *names, struct registers *registers) {
    struct reader target = *reader;
    next_token(&target);
    *reader = target;
    next_token(reader);
    if (*target.token != '%' || !take_token(reader, ",") || !take_token(reader, "["))
        return;
    int k = le_names_get(names, reader->token, reader->length);
    next_token(reader);
    if (k >= 0 && is_token(reader, "]"))
        le_names_put(&reader->ptx->arena, &registers->of, target.token, target.length, k);
}

static void read_conversion(struct reader *reader, const struct parameters *parameters,
                            const struct registers *registers) {
    next_token(reader); /* the target register */
    next_token(reader);
    if (!take_token(reader, ","))
        return;
    int k = le_names_get(&registers->of, reader->token, reader->length);
    if (k >= 0)
        parameters->at[k].fact.is_pointer = true;
}

static void note_use(struct reader *reader, struct le_ptx_kernel *kernel) {
    int variable = le_names_get(&reader->ptx->variable_names, reader->token, reader->length);
    if (variable < 0)
        return;
    for (int k = 0; k < kernel->uses.count; k++)
        if (kernel->uses.at[k] == variable)
            return;
    *LE_PUSH(&reader->ptx->arena, &kernel->uses) = variable;
}

/* Skips operands to the end of the line or instruction, if no variable names have to be found in them. A label, a
 * comment or a brace ends an operation, too. A predicate (@p, @!p) precedes an operation. */
static void skip_operands(struct reader *reader) {
    bool predicate =
        reader->token[-1] == '@' || reader->token[-1] == '!'; /* token[-1] exists: a body begins with a brace */
    if (le_is_letter(*reader->token) && !predicate && reader->ptx->variables.count == 0)
        reader->at += strcspn(reader->at, ";\n:/{}\"");
}

/* Reads a kernel's body. false: it has no instruction but `ret`, so it reveals nothing. */
static bool read_body(struct reader *reader, const struct parameters *parameters, struct le_ptx_kernel *kernel) {
    bool says = false;
    struct le_names names = {0};
    struct registers registers = {{0}};
    for (int k = 0; k < parameters->count; k++)
        le_names_put(&reader->ptx->arena, &names, parameters->at[k].name, strlen(parameters->at[k].name), k);
    int depth = 0;
    do {
        says = says ||
               !(is_token(reader, "ret") || is_token(reader, ";") || is_token(reader, "{") || is_token(reader, "}"));
        if (is_token(reader, "{"))
            depth++;
        else if (is_token(reader, "}"))
            depth--;
        else if (is_token(reader, "ld.param.u64") || is_token(reader, "ld.param.b64"))
            read_load(reader, &names, &registers);
        else if (token_starts(reader, "cvta.to."))
            read_conversion(reader, parameters, &registers);
        else if (token_starts(reader, "call"))
            kernel->uses_all = true;
        else {
            note_use(reader, kernel);
            skip_operands(reader);
        }
        if (depth > 0 || is_token(reader, "}"))
            next_token(reader);
    } while (depth > 0 && reader->length);
    return says;
}

/* ---- top level */

/* From the mangled code of a builtin type. 0 for char: any pointer may be passed as a char *. */
static leat_dtype dtype_of(char code) {
    static const leat_dtype DTYPES[128] = {
        ['s'] = LEAT_I16, ['t'] = LEAT_I16, ['i'] = LEAT_I32, ['j'] = LEAT_I32, ['l'] = LEAT_I64,
        ['m'] = LEAT_I64, ['x'] = LEAT_I64, ['y'] = LEAT_I64, ['f'] = LEAT_F32, ['d'] = LEAT_F64};
    return DTYPES[code & 127];
}

/* Adds what the mangled name reveals about parameters and PTX does not. */
static void refine_parameters(struct parameters *parameters, const struct le_demangled_function *function) {
    for (int k = 0; k < parameters->count && k < function->parameters.count; k++) {
        struct le_parameter *fact = &parameters->at[k].fact;
        const struct le_demangled_parameter *told = &function->parameters.at[k];
        if (told->kind == LE_DEMANGLED_NUMBER)
            fact->may_be_pointer = fact->is_pointer = false;
        else if (told->kind == LE_DEMANGLED_POINTER)
            fact->is_pointer = fact->may_be_pointer;
        if (!fact->pointee && fact->may_be_pointer)
            fact->pointee = dtype_of(told->code);
    }
}

/* Reads up to the parenthesis before the parameters: the simulator's names are the source's, ns::fill<float,3>. */
static const char *read_symbol(struct reader *reader) {
    const char *start = reader->token, *end = start;
    for (; reader->length; next_token(reader)) {
        struct reader behind = *reader;
        next_token(&behind);
        if (is_token(reader, "(") && (is_token(&behind, ".param") || is_token(&behind, ")")))
            break;
        end = reader->at;
    }
    return le_arena_copy(&reader->ptx->arena, start, (size_t)(end - start));
}

/* After `.entry`. */
static void read_kernel(struct reader *reader) {
    struct le_arena *arena = &reader->ptx->arena;
    struct parameters parameters = {0};
    struct le_demangled_function function;
    struct le_ptx_kernel kernel = {.symbol = read_symbol(reader)};
    read_parameters(reader, &parameters);
    while (reader->length && !is_token(reader, "{") && !is_token(reader, ";")) {
        if (take_token(reader, ".pointees"))
            read_pointees(reader, &parameters);
        else
            next_token(reader);
    }
    if (is_token(reader, "{"))
        kernel.uses_all = !read_body(reader, &parameters, &kernel) || kernel.uses_all;
    else
        kernel.uses_all = true;
    le_demangle_function(arena, kernel.symbol, &function);
    refine_parameters(&parameters, &function);
    kernel.name = function.name;
    kernel.parameter_list = function.parameter_list;
    kernel.is_template = function.is_template;
    kernel.parameter_count = parameters.count;
    kernel.parameters = LE_NEW_ARRAY(arena, parameters.count + 1, struct le_parameter);
    for (int k = 0; k < parameters.count; k++)
        kernel.parameters[k] = parameters.at[k].fact;
    *LE_PUSH(arena, &reader->ptx->kernels) = kernel;
}

/* After `.global` or `.const`: .align 4 .b8 table[16] = {...}; */
static void read_variable(struct reader *reader, bool is_constant, bool is_declared) {
    struct le_arena *arena = &reader->ptx->arena;
    struct le_demangled_function function;
    while (reader->length && *reader->token == '.') {
        bool align = is_token(reader, ".align");
        next_token(reader);
        if (align)
            next_token(reader);
        while (is_token(reader, "(") || is_token(reader, ")") ||
               is_token(reader, ".managed")) /* .attribute(.managed) */
            next_token(reader);
    }
    const char *start = reader->token, *end = start; /* the simulator's names may have several tokens: ns::sums */
    for (; reader->length && !is_token(reader, "[") && !is_token(reader, "=") && !is_token(reader, ";");
         next_token(reader))
        end = reader->at;
    const char *symbol = le_arena_copy(arena, start, (size_t)(end - start));
    le_demangle_function(arena, symbol, &function);
    if (!is_declared && *symbol && *symbol != '$') {
        le_names_put(arena, &reader->ptx->variable_names, symbol, strlen(symbol), reader->ptx->variables.count);
        *LE_PUSH(arena, &reader->ptx->variables) =
            (struct le_ptx_variable){.symbol = symbol, .name = function.name, .is_constant = is_constant};
    }
    while (reader->length && !take_token(reader, ";"))
        next_token(reader);
}

static void skip_function(struct reader *reader) {
    while (reader->length && !is_token(reader, "{") && !is_token(reader, ";"))
        next_token(reader);
    if (is_token(reader, "{"))
        read_body(reader, &(struct parameters){0}, &(struct le_ptx_kernel){0});
}

static void read_module(struct reader *reader) {
    bool is_declared = false;
    next_token(reader);
    while (reader->length) {
        if (take_token(reader, ".entry"))
            read_kernel(reader);
        else if (take_token(reader, ".func"))
            skip_function(reader);
        else if (is_token(reader, ".global") || is_token(reader, ".const")) {
            bool is_constant = is_token(reader, ".const");
            next_token(reader);
            read_variable(reader, is_constant, is_declared);
        } else {
            is_declared = is_token(reader, ".extern") || (is_declared && !is_token(reader, ";"));
            next_token(reader);
            continue;
        }
        is_declared = false;
    }
}

leat_status le_ptx_read(const char *text, struct le_ptx *ptx) {
    *ptx = (struct le_ptx){0};
    le_arena_init(&ptx->arena);
    if (setjmp(ptx->arena.failure)) {
        le_arena_finish(&ptx->arena);
        return le_fail_out_of_memory(0);
    }
    struct reader reader = {.at = text, .ptx = ptx};
    read_module(&reader);
    return LEAT_OK;
}

void le_ptx_finish(struct le_ptx *ptx) {
    le_arena_finish(&ptx->arena);
}
