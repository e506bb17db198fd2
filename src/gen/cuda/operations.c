/* Operations as CUDA C, which compute the same bits as the vector machine: fills in the texts of op.def. */
#include "gen/cuda/spelling.h"
#include "gen/cuda/words.h"
#include <string.h>

/* LE_CODE_MULADD and what follows it: a * b + c, a * b - c, c - a * b. Those of floats round once. */
static const struct le_cuda_spelling multiply_adds[] = {
    {.floats = "fma%f(%a, %b, %c)", .integers = "(%t)((%u)%a * (%u)%b + (%u)%c)"},
    {.floats = "fma%f(%a, %b, -%c)", .integers = "(%t)((%u)%a * (%u)%b - (%u)%c)"},
    {.floats = "fma%f(-%a, %b, %c)", .integers = "(%t)((%u)%c - (%u)%a * (%u)%b)"},
};

static const char *text_of_way(const struct le_cuda_spelling *s, enum le_type type, enum le_way way) {
    if (way == LE_WAY_QUICK)
        return type == LE_F32 ? s->quick32 : type == LE_F64 ? s->quick64 : NULL;
    return way == LE_WAY_SHORT && type == LE_F32 ? s->short32 : NULL;
}

static const char *text_of_kind(const struct le_cuda_spelling *s, enum le_type type) {
    if (type == LE_BOOL || le_type_is_float(type))
        return type == LE_BOOL ? s->bools : s->floats;
    if (le_type_is_unsigned(type) && s->unsigneds)
        return s->unsigneds;
    return le_type_is_int(type) ? s->integers : NULL;
}

struct op {
    int code;
    enum le_type type;
    const char *const *x, *usual;
};

static void put_placeholder(struct le_arena *arena, struct words *w, const struct op *o, char letter) {
    bool wide = le_type_size(o->type) == 8;
    switch (letter) {
    case 'x':
        for (int k = 0; k < le_op_info((enum le_op)o->code)->arity; k++)
            le_words_add(arena, w, "%s%s", k ? ", " : "", o->x[k]);
        break;
    case 't':
        le_words_add(arena, w, "%s", le_cuda_type((int)o->type));
        break;
    case 'u':
        le_words_add(arena, w, "%s", wide ? "unsigned long long" : "unsigned");
        break;
    case 'm':
        le_words_add(arena, w, "0x%llxull", ~0ull >> (64 - 8 * le_type_size(o->type)));
        break;
    case 'f':
        le_words_add(arena, w, "%s", wide ? "" : "f");
        break;
    case 'n':
        le_words_add(arena, w, "%s", le_op_info((enum le_op)o->code)->name);
        break;
    case 'q':
        le_words_add(arena, w, "%s", o->usual);
        break;
    default:
        le_words_add(arena, w, "%s", o->x[letter - 'a']);
    }
}

const char *le_cuda_op(struct le_arena *arena, int code, int type, const char *const *x, enum le_way way,
                       const char *usual) {
    const struct op o = {.code = code, .type = (enum le_type)type, .x = x, .usual = usual};
    const struct le_cuda_spelling *s =
        code < LE_OPS ? &le_op_info((enum le_op)code)->cuda : &multiply_adds[code - LE_CODE_MULADD];
    const char *text = text_of_way(s, o.type, way);
    text = text ? text : text_of_kind(s, o.type);
    text = text ? text : s->each;
    struct words w = {0};
    while (text && *text) {
        size_t plain = strcspn(text, "%");
        le_words_put(arena, &w, text, plain);
        text += plain;
        if (*text) {
            put_placeholder(arena, &w, &o, text[1]);
            text += 2;
        }
    }
    return w.at;
}
