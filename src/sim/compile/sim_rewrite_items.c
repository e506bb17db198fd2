/* Finds kernels and variables in the tokens, and writes their table after the source. */
#include "sim/compile/sim_rewrite_items.h"
#include <string.h>

/* A name with its namespaces. (A kernel in extern "C" is called by its plain name.) */
static const char *full_name(struct sim_walk *w, const char *name) {
    const char *full = "";
    for (int k = 0; k < w->scopes.count; k++)
        if (w->scopes.at[k].kind == SIM_NAMESPACE && *w->scopes.at[k].name)
            full = le_arena_format(w->arena, "%s%s::", full, w->scopes.at[k].name);
    return le_arena_format(w->arena, "%s%s", full, name);
}

static bool in_extern_c(const struct sim_walk *w, int end) {
    for (int k = 0; k < w->scopes.count; k++)
        if (w->scopes.at[k].kind == SIM_EXTERN_C)
            return true;
    int at = le_sim_walk_find(w, w->statement, end, "extern");
    return at >= 0 && le_sim_token_is(&w->tokens.at[at + 1], "\"C\"");
}

static char *token_word(struct sim_walk *w, int at) {
    return le_arena_copy(w->arena, w->tokens.at[at].text, w->tokens.at[at].length);
}

/* ---- kernels */

struct kernel_attributes { /* attributes of a kernel: the text of their arguments */
    const char *bounds, *cluster;
};

/* The text of the arguments of the word at `at`, or of the first one only, unless all. Removes the word and its
 * arguments from the source. NULL: the text has no meaning outside its namespace. */
static const char *take_arguments(struct sim_walk *w, int at, bool all) {
    int close = le_sim_walk_close(w, at + 1);
    const char *text = "";
    bool plain = true, more = true;
    for (int k = at; k <= close; k++) {
        struct sim_token *token = &w->tokens.at[k];
        if (k > at + 1 && k < close && le_sim_token_is(token, ",") && !all)
            more = false;
        if (k > at + 1 && k < close && more && token->kind != SIM_MARKER) {
            plain &= token->kind != SIM_WORD || w->scopes.count == 0;
            text = le_arena_format(w->arena, "%s %.*s", text, (int)token->length, token->text);
        }
        if (token->kind != SIM_MARKER)
            token->instead = "";
    }
    return plain && *text ? text : NULL;
}

static void take_cluster(struct sim_walk *w, int at, struct kernel_attributes *attributes) {
    const char *text = take_arguments(w, at, true);
    if (text)
        attributes->cluster = le_arena_format(w->arena, ",%s", text);
    else
        le_sim_walk_error(w, at, "the extents of a cluster must be numbers in the simulator");
}

/* Reads and removes an attribute. false: the word is not an attribute. */
static bool take_attribute(struct sim_walk *w, int at, struct kernel_attributes *attributes) {
    if (le_sim_token_is(&w->tokens.at[at], "__launch_bounds__"))
        attributes->bounds = take_arguments(w, at, false);
    else if (le_sim_token_is(&w->tokens.at[at], "__cluster_dims__"))
        take_cluster(w, at, attributes);
    else
        return false;
    return true;
}

/* The index of the kernel's name, which is the word before its parameters; -1: there is none. */
static int find_kernel_name(struct sim_walk *w, int at, int end, struct kernel_attributes *attributes) {
    static const char *const others[] = {"__attribute__", "__attribute", "alignas", "__declspec", "decltype"};
    for (int k = at + 1; k + 1 < end; k++) {
        if (w->tokens.at[k].kind != SIM_WORD || !le_sim_token_is(&w->tokens.at[k + 1], "("))
            continue;
        bool other = false;
        for (size_t i = 0; i < ARRAY_LEN(others); i++)
            other |= le_sim_token_is(&w->tokens.at[k], others[i]);
        int close = le_sim_walk_close(w, k + 1);
        if (!take_attribute(w, k, attributes) && !other)
            return k;
        k = close;
    }
    return -1;
}

static void add_kernel(struct sim_walk *w, int name_at, const struct kernel_attributes *attributes, int end) {
    const char *name = token_word(w, name_at), *full = full_name(w, name);
    bool plain = in_extern_c(w, end);
    for (int k = 0; k < w->declared.count; k++)
        if (strcmp(w->declared.at[k].full, full) == 0) {
            le_sim_walk_error(
                w, name_at,
                "kernel \"%s\" is overloaded (also at line %d): the simulator finds kernels by name; give "
                "them different names",
                full, w->declared.at[k].line);
            return;
        }
    struct sim_declared *item = LE_PUSH(w->arena, &w->declared);
    *item = (struct sim_declared){.name = plain ? name : full,
                                  .full = full,
                                  .file = w->tokens.at[name_at].file,
                                  .line = w->tokens.at[name_at].line,
                                  .max_threads = attributes->bounds ? attributes->bounds : "0",
                                  .cluster = attributes->cluster ? attributes->cluster : "",
                                  .kernel = true};
}

void le_sim_walk_kernel(struct sim_walk *w, int at) {
    struct kernel_attributes attributes = {NULL, NULL};
    int end = le_sim_walk_end(w, at), start = w->statement;
    /* noinline: its code stays out of the calling function, which is not instrumented */
    w->tokens.at[at].instead = w->flattens ? "__attribute__((noinline, flatten))" : "__attribute__((noinline))";
    for (int k = start; k < at; k++)
        take_attribute(w, k, &attributes);
    int name = find_kernel_name(w, at, end, &attributes);
    bool generic = le_sim_walk_find(w, start, at, "template") >= 0;
    if (!w->outside) {
        le_sim_walk_error(w, at, "a __global__ function must be in a namespace");
        return;
    }
    if (name < 0)
        return; /* a specialization of a template, or an error for the compiler to report */
    if (le_sim_walk_find(w, start, name, "void") < 0)
        le_sim_walk_error(w, name, "a __global__ function must have a void return type");
    else if (generic && attributes.cluster)
        le_sim_walk_error(w, name, "a cluster of a kernel template is not supported by the simulator");
    else if (!generic && le_sim_token_is(&w->tokens.at[end], "{"))
        add_kernel(w, name, &attributes, end);
}

/* ---- variables */

static void add_variable(struct sim_walk *w, int at, bool constant) {
    const char *name = token_word(w, at), *full = full_name(w, name);
    for (int k = 0; k < w->declared.count; k++)
        if (strcmp(w->declared.at[k].full, full) == 0)
            return;
    struct sim_declared *item = LE_PUSH(w->arena, &w->declared);
    *item = (struct sim_declared){
        .name = full, .full = full, .file = w->tokens.at[at].file, .line = w->tokens.at[at].line, .constant = constant};
}

static bool is_sign(const struct sim_token *token, const char *signs) {
    return token->kind == SIM_SIGN && strchr(signs, *token->text);
}

/* Skips the rest of a declarator and its initializer, up to the ',' or ';' after it. */
static int skip_declarator(const struct sim_walk *w, int at) {
    while (at < w->tokens.count - 1 && !is_sign(&w->tokens.at[at], ",;")) {
        if (is_sign(&w->tokens.at[at], "([{"))
            at = le_sim_walk_close(w, at);
        at++;
    }
    return at;
}

/* Skips the <...> of template arguments. */
static int skip_angles(const struct sim_walk *w, int at) {
    int depth = 0;
    for (; at < w->tokens.count - 1; at++) {
        if (is_sign(&w->tokens.at[at], "([{"))
            at = le_sim_walk_close(w, at);
        depth += is_sign(&w->tokens.at[at], "<");
        depth -= is_sign(&w->tokens.at[at], ">");
        if (depth == 0)
            break;
    }
    return at;
}

/* Skips the {...} of a type that is defined where it is used: struct {...}, union name {...}. Returns at - 1 if there
 * is none. */
static int skip_definition(const struct sim_walk *w, int at) {
    static const char *const types[] = {"struct", "class", "union", "enum"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        for (int k = at + 1; k <= at + 2 && k < w->tokens.count && le_sim_token_is(&w->tokens.at[at], types[i]); k++)
            if (is_sign(&w->tokens.at[k], "{"))
                return le_sim_walk_close(w, k);
    return at - 1;
}

void le_sim_walk_variables(struct sim_walk *w) {
    int end = w->tokens.count - 1, name = -1;
    bool constant = false;
    static const char *const never[] = {"template", "operator", "typedef", "using", "friend"};
    for (int k = w->statement; k < end; k++) {
        const struct sim_token *token = &w->tokens.at[k];
        if (token->kind == SIM_MARKER || token->kind == SIM_FOREIGN)
            continue;
        int defined = token->kind == SIM_WORD ? skip_definition(w, k) : -1;
        if (defined > k) {
            k = defined;
            name = -1;
            continue;
        }
        for (size_t i = 0; i < ARRAY_LEN(never); i++)
            if (le_sim_token_is(token, never[i]))
                return;
        constant |= le_sim_token_is(token, "__constant__");
        if (token->kind == SIM_WORD && le_sim_token_is(token + 1, "(") &&
            (le_sim_token_is(token, "__attribute__") || le_sim_token_is(token, "alignas") ||
             le_sim_token_is(token, "decltype")))
            k = le_sim_walk_close(w, k + 1);
        else if (token->kind == SIM_WORD)
            name = k;
        else if (is_sign(token, "<"))
            k = skip_angles(w, k);
        else if (is_sign(token, "(~"))
            return; /* a function */
        else if (is_sign(token, "[=;,{")) {
            static const char *const types[] = {"struct", "class", "union", "enum", "namespace"};
            bool declared =
                name > w->statement && !(is_sign(token, ";") && le_sim_walk_find(w, w->statement, k, "extern") >= 0);
            for (size_t i = 0; i < ARRAY_LEN(types); i++)
                declared &= name < 1 || !le_sim_token_is(&w->tokens.at[name - 1], types[i]);
            if (declared)
                add_variable(w, name, constant);
            k = skip_declarator(w, k);
            if (!is_sign(&w->tokens.at[k], ",") || !declared)
                return;
        }
    }
}

/* ---- the table */

char *le_sim_lowered_name(struct le_arena *arena, const char *expression) {
    while (*expression == ' ' || *expression == '&' || *expression == '\t' || strncmp(expression, "::", 2) == 0)
        expression += *expression == ':' ? 2 : 1;
    char *name = le_arena_copy(arena, expression, strlen(expression)), *to = name;
    for (const char *from = name; *from; from++)
        if (*from != ' ' && *from != '\t')
            *to++ = *from;
    *to = '\0';
    return name;
}

static void add_quoted(struct le_text *text, const char *word) {
    for (; *word; word++) {
        if (*word == '"' || *word == '\\')
            le_text_add(text, "\\");
        le_text_add_bytes(text, word, 1);
    }
}

static bool is_listed(const struct sim_walk *w, const char *name) {
    for (int k = 0; k < w->declared.count; k++)
        if (strcmp(w->declared.at[k].name, name) == 0)
            return true;
    return false;
}

static int write_expressions(struct sim_walk *w) {
    struct le_text *text = &w->out->text;
    int count = 0;
    for (int k = 0; k < w->source->expression_count; k++) {
        char *name = le_sim_lowered_name(w->arena, w->source->expressions[k]);
        const char *bare = w->source->expressions[k];
        while (*bare == ' ' || *bare == '&')
            bare++;
        if (is_listed(w, name))
            continue;
        le_text_add(text, "# 1 \"" SIM_EXPRESSION_IN "'");
        add_quoted(text, bare);
        le_text_add(text,
                    "'\"\nleat_sim::expression<decltype(%s), %s, leat_sim::signature<decltype(%s)>::kernel>::item(\"",
                    bare, bare, bare);
        add_quoted(text, name);
        le_text_add(text, "\"),\n");
        count++;
    }
    return count;
}

void le_sim_walk_items(struct sim_walk *w) {
    struct le_text *text = &w->out->text;
    le_text_add(text,
                "\n# 1 \"" SIM_OWN_FILES "/items\" 3\nstatic constexpr leat_sim::sim_item leat_sim_items[] = {\n");
    for (int k = 0; k < w->declared.count; k++) {
        const struct sim_declared *item = &w->declared.at[k];
        le_text_add(text, "# %d \"", item->line);
        le_text_add(text, "%s\"\n", item->file);
        if (item->kernel)
            le_text_add(text, "leat_sim::signature<decltype(::%s)>::item<&::%s>(\"%s\", (unsigned)(%s)%s),\n",
                        item->full, item->full, item->name, item->max_threads, item->cluster);
        else
            le_text_add(text, "leat_sim::variable(\"%s\", ::%s, %d),\n", item->name, item->full, item->constant);
    }
    int count = w->declared.count + write_expressions(w);
    le_text_add(
        text,
        "# 1 \"" SIM_OWN_FILES "/items\" 3\nleat_sim::sim_item{}};\nextern \"C\" __attribute__((visibility("
        "\"default\"), used)) const leat_sim::sim_table leat_sim_table = {leat_sim::SIM_ABI, %d, leat_sim_items, "
        "%d, &leat_sim::services, &leat_sim::self, &leat_sim::dynamic_address};\n",
        w->source->check, count);
    w->out->spins = w->spins;
}
