/* Implements sim_rewrite.h: the walk over the tokens. */
#include "sim/compile/sim_rewrite.h"
#include "sim/compile/sim_rewrite_items.h"
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const struct sim_token *token, const char *const *words, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (le_sim_token_is(token, words[k]))
            return true;
    return false;
}

void le_sim_walk_error(struct sim_walk *w, int at, const char *format, ...) {
    const struct sim_token *token = &w->tokens.at[at];
    va_list arguments;
    va_start(arguments, format);
    le_text_add(&w->out->log, "%s(%d): error: ", token->file, token->line);
    le_text_add_list(&w->out->log, format, arguments);
    le_text_add(&w->out->log, "\n\n");
    va_end(arguments);
    w->out->errors++;
}

int le_sim_walk_close(const struct sim_walk *w, int at) {
    int depth = 0;
    for (; at < w->tokens.count; at++) {
        const struct sim_token *token = &w->tokens.at[at];
        if (token->kind != SIM_SIGN)
            continue;
        char c = *token->text;
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        if (depth == 0)
            return at;
    }
    return w->tokens.count - 1;
}

int le_sim_walk_find(const struct sim_walk *w, int from, int to, const char *text) {
    for (int k = from; k < to; k++)
        if (w->tokens.at[k].kind != SIM_MARKER && w->tokens.at[k].kind != SIM_FOREIGN &&
            le_sim_token_is(&w->tokens.at[k], text))
            return k;
    return -1;
}

/* Where the statement ends: at its ';', '{' or '}' outside brackets. */
int le_sim_walk_end(const struct sim_walk *w, int at) {
    for (; at < w->tokens.count - 1; at++) {
        const struct sim_token *token = &w->tokens.at[at];
        if (token->kind == SIM_SIGN && (*token->text == ';' || *token->text == '{' || *token->text == '}'))
            return at;
        if (token->kind == SIM_SIGN && (*token->text == '(' || *token->text == '['))
            at = le_sim_walk_close(w, at);
    }
    return at;
}

/* ---- shared variables */

/* extern __shared__ T name[]; in a function becomes a typedef of its type and a reference. It cannot be a thread_local
 * declaration with an assembler name, because a compiler may ignore that name in a template. */
static void rewrite_dynamic_inside(struct sim_walk *w, int name, int end) {
    for (int k = w->statement; k < end; k++) {
        struct sim_token *token = &w->tokens.at[k];
        bool attribute = le_sim_token_is(token, "__attribute__") || le_sim_token_is(token, "alignas");
        int close = attribute ? le_sim_walk_close(w, k + 1) : k;
        if (attribute || le_sim_token_is(token, "extern") || le_sim_token_is(token, "__shared__"))
            for (; k <= close; k++)
                w->tokens.at[k].instead = "";
        k = close;
    }
    const struct sim_token *word = &w->tokens.at[name];
    int length = (int)word->length;
    w->tokens.at[w->statement].before = " typedef ";
    w->tokens.at[name].instead = le_arena_format(w->arena, "leat_sim_type_%.*s", length, word->text);
    w->tokens.at[end].before =
        le_arena_format(w->arena, "; leat_sim_type_%.*s &%.*s = leat_sim::dynamic_as<leat_sim_type_%.*s>()", length,
                        word->text, length, word->text, length, word->text);
}

/* Finds the name of the declarator and its end. false: there is none. */
static bool find_declarator(const struct sim_walk *w, int at, int end, int *name, int *name_end) {
    *name = -1;
    for (int k = at + 1; k < end; k++) {
        const struct sim_token *token = &w->tokens.at[k];
        if (token->kind == SIM_WORD && le_sim_token_is(&w->tokens.at[k + 1], "("))
            k = le_sim_walk_close(w, k + 1); /* an attribute */
        else if (le_sim_token_is(token, "["))
            *name_end = k = le_sim_walk_close(w, k);
        else if (token->kind == SIM_WORD)
            *name = *name_end = k;
    }
    return *name >= 0;
}

static void rewrite_shared(struct sim_walk *w, int at) {
    int end = le_sim_walk_end(w, at), name, name_end;
    w->tokens.at[at].instead = "thread_local __attribute__((used))";
    if (le_sim_walk_find(w, at, end, "=") >= 0)
        le_sim_walk_error(w, at, "an initializer is not allowed for a __shared__ variable");
    else if (le_sim_walk_find(w, w->statement, end, "extern") < 0 || !find_declarator(w, at, end, &name, &name_end))
        return;
    else if (!w->outside)
        rewrite_dynamic_inside(w, name, end);
    else {
        w->tokens.at[at].instead = "thread_local";
        w->tokens.at[name_end + 1].before = " __asm__(\"leat_sim_dynamic\")";
    }
}

/* ---- keywords of CUDA */

static void rewrite_forceinline(struct sim_walk *w, int at) {
    static const char *const inlines[] = {"inline", "__inline__", "__inline", "__forceinline__"};
    int end = le_sim_walk_end(w, at), others = 0;
    for (int k = w->statement; k < end && !le_sim_token_is(&w->tokens.at[k], "("); k++)
        others += k != at && is_one_of(&w->tokens.at[k], inlines, ARRAY_LEN(inlines));
    w->tokens.at[at].instead = others ? "__attribute__((always_inline))" : "inline __attribute__((always_inline))";
}

static void refuse_unsupported(struct sim_walk *w, int at) {
    static const struct {
        const char *word, *what;
    } rows[] = {
        {"asm", "inline PTX (asm)"},
        {"__asm__", "inline PTX (asm)"},
        {"__asm", "inline PTX (asm)"},
        {"cudaTextureObject_t", "a texture"},
        {"cudaSurfaceObject_t", "a surface"},
        {"tex1D", "a texture"},
        {"tex2D", "a texture"},
        {"tex3D", "a texture"},
        {"tex1Dfetch", "a texture"},
        {"surf1Dread", "a surface"},
        {"surf2Dread", "a surface"},
        {"surf1Dwrite", "a surface"},
        {"surf2Dwrite", "a surface"},
        {"this_cluster", "a cooperative group that is a cluster"},
        {"nvcuda", "a warp's matrix operation (wmma)"},
        {"cudaLaunchDevice", "a launch from a kernel (dynamic parallelism)"},
        {"__pipeline_memcpy_async", "an asynchronous copy"},
        {"memcpy_async", "an asynchronous copy"},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        if (le_sim_token_is(&w->tokens.at[at], rows[k].word))
            le_sim_walk_error(w, at,
                              "%s is not supported by the simulator (\"%s\"; see docs/SIM.md for the supported subset)",
                              rows[k].what, rows[k].word);
}

static void walk_word(struct sim_walk *w, int at) {
    static const char *const gone[] = {"__device__", "__host__", "__constant__", "__managed__"};
    struct sim_token *token = &w->tokens.at[at];
    if (*token->text == 'v' && le_sim_token_is(token, "volatile"))
        w->spins = true;
    if (le_sim_token_is(token, "__shared__"))
        rewrite_shared(w, at);
    else if (le_sim_token_is(token, "__global__"))
        le_sim_walk_kernel(w, at);
    else if (is_one_of(token, gone, ARRAY_LEN(gone))) {
        token->instead = "";
        if (w->outside && !le_sim_token_is(token, "__host__") && w->seen_statement != w->statement) {
            w->seen_statement = w->statement;
            le_sim_walk_variables(w);
        }
    } else if (le_sim_token_is(token, "__forceinline__"))
        rewrite_forceinline(w, at);
    else if (le_sim_token_is(token, "__noinline__") && at && !le_sim_token_is(token - 1, "("))
        token->instead = w->flattens ? "" : "__attribute__((noinline))";
    else
        refuse_unsupported(w, at);
}

/* ---- scopes */

static void open_scope(struct sim_walk *w, int at) {
    struct sim_scope *scope = LE_PUSH(w->arena, &w->scopes);
    int space = le_sim_walk_find(w, w->statement, at, "namespace");
    *scope = (struct sim_scope){.kind = SIM_INSIDE, .outside = w->outside};
    if (space >= 0) {
        scope->kind = SIM_NAMESPACE;
        scope->name = "";
        for (int k = space + 1; k < at; k++)
            if (w->tokens.at[k].kind != SIM_MARKER && !le_sim_token_is(&w->tokens.at[k], "inline"))
                scope->name =
                    le_arena_format(w->arena, "%s%.*s", scope->name, (int)w->tokens.at[k].length, w->tokens.at[k].text);
    } else if (at - w->statement == 2 && le_sim_token_is(&w->tokens.at[w->statement], "extern") &&
               le_sim_token_is(&w->tokens.at[at - 1], "\"C\""))
        scope->kind = SIM_EXTERN_C;
    w->outside = w->outside && scope->kind != SIM_INSIDE;
}

static void walk_sign(struct sim_walk *w, int at) {
    const struct sim_token *token = &w->tokens.at[at];
    char c = *token->text;
    if (c == '<' && at + 2 < w->tokens.count && le_sim_token_is(token + 1, "<") && le_sim_token_is(token + 2, "<") &&
        token[1].text == token->text + 1 && token[2].text == token->text + 2)
        le_sim_walk_error(w, at,
                          "a launch from a kernel (\"<<<\", dynamic parallelism) is not supported by the simulator");
    if (c == '{')
        open_scope(w, at);
    if (c == '}' && w->scopes.count)
        w->outside = w->scopes.at[--w->scopes.count].outside;
    if (c == '{' || c == '}' || c == ';')
        w->statement = at + 1;
}

static void walk_tokens(struct sim_walk *w) {
    w->outside = true;
    w->seen_statement = -1;
    for (int k = 0; k < w->tokens.count; k++) {
        const struct sim_token *token = &w->tokens.at[k];
        if (token->kind == SIM_WORD)
            walk_word(w, k);
        else if (token->kind == SIM_SIGN)
            walk_sign(w, k);
        else if ((token->kind == SIM_MARKER || token->kind == SIM_FOREIGN) && w->statement == k)
            w->statement = k + 1;
    }
}

/* ---- parts of our own headers, which are left out if the program uses no name in them: reading them takes half of the
 * compilation */

static const struct {
    const char *file, *words[2]; /* prefixes of the names in the part */
} parts[] = {
    {SIM_OWN_FILES "/leat/sim_words.inc", {"__v", "__dp"}},
    {SIM_OWN_FILES "/leat/sim_atomics.inc", {"atomic"}},
};

static bool mentions(const struct sim_walk *w, const char *after, const char *word) {
    const struct sim_source *s = w->source;
    bool found = memmem(after, (size_t)(s->text + s->length - after), word, strlen(word)) != NULL;
    for (int k = 0; k < s->expression_count; k++)
        found |= strstr(s->expressions[k], word) != NULL;
    return found;
}

static void drop_unused_parts(struct sim_walk *w) {
    const char *after = w->source->text; /* the end of the prelude, whose last part is sim_entries.inc */
    bool needed[ARRAY_LEN(parts)] = {false};
    for (int k = 0; k < w->tokens.count; k++)
        if (strcmp(w->tokens.at[k].file, SIM_OWN_FILES "/leat/sim_entries.inc") == 0)
            after = w->tokens.at[k].text + w->tokens.at[k].length;
    for (size_t p = 0; p < ARRAY_LEN(parts); p++)
        for (size_t k = 0; k < ARRAY_LEN(parts[p].words); k++)
            needed[p] |= parts[p].words[k] && mentions(w, after, parts[p].words[k]);
    for (int k = 0; k < w->tokens.count; k++)
        for (size_t p = 0; p < ARRAY_LEN(parts); p++)
            if (!needed[p] && w->tokens.at[k].kind == SIM_FOREIGN && strcmp(w->tokens.at[k].file, parts[p].file) == 0)
                w->tokens.at[k].instead = "\n";
}

static void write_tokens(struct sim_walk *w) {
    for (int k = 0; k < w->tokens.count; k++) {
        const struct sim_token *token = &w->tokens.at[k];
        if (token->before)
            le_text_add(&w->out->text, "%s", token->before);
        le_text_add_bytes(&w->out->text, token->start, (size_t)(token->text - token->start));
        if (token->instead)
            le_text_add(&w->out->text, "%s", token->instead);
        else
            le_text_add_bytes(&w->out->text, token->text, token->length);
    }
}

/* Our headers name the compiler: "leat_compiler_gcc = 12, leat_compiler_clang = 0". */
static void find_compiler(const struct sim_source *source, struct sim_rewritten *out) {
    static const char *const marks[] = {"leat_compiler_gcc = ", "leat_compiler_clang = "};
    for (size_t k = 0; k < ARRAY_LEN(marks); k++) {
        const char *at = memmem(source->text, source->length, marks[k], strlen(marks[k]));
        int major = at ? atoi(at + strlen(marks[k])) : 0;
        if (major) {
            out->compiler_major = major;
            out->gcc = k == 0;
        }
    }
}

void le_sim_rewrite(struct le_arena *arena, const struct sim_source *source, struct sim_rewritten *rewritten) {
    struct sim_walk w = {.arena = arena, .source = source, .out = rewritten};
    find_compiler(source, rewritten);
    /* gcc does not instrument the store of a structure that a call returns */
    w.flattens = source->check && rewritten->gcc;
    le_sim_tokens_read(arena, source, &w.tokens);
    walk_tokens(&w);
    drop_unused_parts(&w);
    write_tokens(&w);
    le_sim_walk_items(&w);
}
