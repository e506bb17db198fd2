/* Loads, stores and scatters. An affine subscript that stays in range becomes a pointer that the loops advance. Any
 * other subscript is computed for every lane, checked, and used to gather. */
#include "gen/bytecode/bytecode_gen.h"

#define STREAM_BYTES_MIN                                                                                               \
    ((int64_t)8 << 20) /* a result of so many bytes will have left the near caches when it is read */

static int64_t size_of(const struct gen *g, int value) {
    return (int64_t)le_type_size(g->ir->values.at[value].type);
}

/* The axis may be in the pointer: an affine subscript that stays inside. */
static bool is_plain(const struct gen *g, const struct le_address *address, int d, bool trusted, struct le_affine *f) {
    return (trusted || le_axis_is_safe(g->space, address, d)) && le_axis_elements(g->space, address, d, f);
}

bool le_gen_is_linear(const struct gen *g, const struct le_address *address, bool trusted) {
    for (int d = 0; d < address->rank; d++) {
        struct le_affine f;
        if (!is_plain(g, address, d, trusted, &f))
            return false;
        for (int k = 0; k < f.count; k++)
            if (le_gen_is_for(g, f.index[k]) && le_range_of(g->space, f.index[k])->dynamic)
                return false;
    }
    return true;
}

/* ---- one access while its code is made */

struct access {
    struct gen *g;
    int value, number;
    struct le_address address;
    enum le_edge edge;
    bool trusted;
    struct scope *scope;
    struct condition c;
    bool streams[LEAT_RANK_MAX]; /* the axis is in the pointer */
    int mask, inside;            /* lanes that may read; lanes where a fill edge is inside; LE_NO_REG: all */
    int offset;                  /* computed part, in elements; LE_NO_REG: none */
};

static const struct scope *lane_scope(const struct scope *scope) {
    while (scope && !scope->lane)
        scope = scope->parent;
    return scope;
}

static bool in_rows(const struct access *a) {
    const struct scope *lane = a->scope->in_lane ? lane_scope(a->scope) : NULL;
    return lane && a->g->loops.at[lane->loop].rows;
}

/* An index that differs from lane to lane, but is not the lanes'; in rows no index of lanes grows in steps. */
static bool by_lane(const struct access *a, const struct le_affine *f) {
    bool rows = in_rows(a);
    for (const struct scope *s = a->scope; s; s = s->parent)
        for (int k = 0; k < f->count && (s->kind == SCOPE_REPEAT || (rows && s->lane)); k++)
            if (a->g->merged_into[f->index[k]] == s->index)
                return true;
    return false;
}

static bool moves_with_lane(const struct access *a, int d, const struct scope *lane) {
    struct le_affine f;
    if (!lane || !le_axis_elements(a->g->space, &a->address, d, &f))
        return true;
    for (int k = 0; k < f.count; k++)
        if (a->g->merged_into[f.index[k]] == lane->index)
            return true;
    return false;
}

/* Which axes the pointer takes: all, if all are affine and inside; else those that all lanes share. */
static void split_axes(struct access *a) {
    const struct scope *lane = a->scope->in_lane ? lane_scope(a->scope) : NULL;
    bool plain[LEAT_RANK_MAX], all = true;
    for (int d = 0; d < a->address.rank; d++) {
        struct le_affine f;
        plain[d] = is_plain(a->g, &a->address, d, a->trusted, &f) && !by_lane(a, &f);
        all &= plain[d];
    }
    for (int d = 0; d < a->address.rank; d++)
        a->streams[d] =
            plain[d] && (all || le_address_is_stretched(&a->address, d) || (lane && !moves_with_lane(a, d, lane)));
}

/* What axis d adds to the pointer. */
static bool streams_axis(const struct access *a, int d, struct le_affine *f) {
    return a->streams[d] && le_axis_elements(a->g->space, &a->address, d, f);
}

/* Elements that index moves the pointer by. */
static int64_t pointer_stride(const struct access *a, int index) {
    int64_t stride = 0;
    for (int d = 0; d < a->address.rank; d++) {
        struct le_affine f;
        bool streams = streams_axis(a, d, &f);
        for (int k = 0; streams && k < f.count; k++)
            if (f.index[k] == index)
                stride += f.factor[k];
    }
    return stride;
}

static int64_t pointer_start(const struct access *a) {
    int64_t start = a->address.layout->offset;
    for (int d = 0; d < a->address.rank; d++) {
        struct le_affine f;
        if (!streams_axis(a, d, &f))
            continue;
        start += f.constant;
        for (int k = 0; k < f.count; k++) /* an index whose loop was merged into another's starts at its low end */
            if (a->g->merged_into[f.index[k]] != f.index[k])
                start += le_wrapping_product(f.factor[k], le_range_of(a->g->space, f.index[k])->low);
    }
    return start;
}

static int make_pointer(struct access *a) {
    struct gen *g = a->g;
    int64_t size = size_of(g, a->value);
    int reg = le_gen_reg(g, LE_REG_STREAM, g->ir->values.at[a->value].type);
    g->regs.at[reg].buffer = a->value;
    g->regs.at[reg].offset = le_wrapping_product(pointer_start(a), size);
    for (struct scope *s = a->scope; s->parent; s = s->parent)
        le_gen_stream_loop(g, reg, s, pointer_stride(a, s->index) * size);
    return reg;
}

static int64_t lane_stride(const struct access *a) {
    const struct scope *lane = lane_scope(a->scope);
    if (!a->scope->in_lane || !lane)
        return 0;
    return pointer_stride(a, lane->index) * a->g->loops.at[lane->loop].by * size_of(a->g, a->value);
}

/* ---- computed subscripts */

static int emit_result(struct access *a, int code, enum le_type type, enum le_type result, int x, int y, int z, int e,
                       int64_t imm) {
    int d = le_gen_result(a->g, a->scope, result);
    le_gen_emit(a->g, a->scope,
                (struct le_instr){.code = (uint16_t)code,
                                  .type = (uint8_t)type,
                                  .type2 = (uint8_t)result,
                                  .d = (uint16_t)d,
                                  .a = (uint16_t)x,
                                  .b = (uint16_t)y,
                                  .c = (uint16_t)z,
                                  .e = (uint16_t)e,
                                  .imm = imm});
    return d;
}

static int use_constant(struct access *a, enum le_type type, int64_t value) {
    struct operand x = {.reg = le_gen_const(a->g, type, (uint64_t)value), .scope = a->g->root, .splat = -1};
    return le_gen_use(a->g, &x, a->scope);
}

/* Lanes outside the axis leave the mask; they are faults, or set `outside`. */
static void check_axis(struct access *a, int d, int subscript, int length) {
    int before = a->mask,
        after = emit_result(a, LE_CODE_INRANGE, LE_I64, LE_BOOL, subscript, before, LE_NO_REG, length, 0);
    struct le_instr instr = {.type = LE_I64,
                             .type2 = LE_BOOL,
                             .d = LE_NO_REG,
                             .a = (uint16_t)subscript,
                             .b = (uint16_t)before,
                             .c = (uint16_t)after,
                             .e = LE_NO_REG,
                             .imm = (int64_t)a->number * 8 + d};
    instr.code = a->c.outside >= 0 && a->edge == LE_EDGE_NONE ? LE_CODE_OUTSIDE : LE_CODE_FAULT;
    if (instr.code == LE_CODE_OUTSIDE)
        instr.d = (uint16_t)a->c.outside;
    le_gen_emit(a->g, a->scope, instr);
    a->mask = after;
}

static int checked_subscript(struct access *a, int d) {
    struct gen *g = a->g;
    int subscript = le_gen_use(g, le_gen_node(g, a->address.subscripts[d], a->scope, a->c), a->scope);
    if (a->trusted || le_axis_is_safe(g->space, &a->address, d))
        return subscript;
    int length = le_gen_const(g, LE_I64, (uint64_t)a->address.layout->shape[d]);
    if (a->edge == LE_EDGE_NONE) {
        check_axis(a, d, subscript, length);
    } else if (a->edge == LE_EDGE_FILL) {
        a->inside = emit_result(a, LE_CODE_INRANGE, LE_I64, LE_BOOL, subscript, a->inside, LE_NO_REG, length, 0);
    } else {
        int moved = emit_result(a, LE_CODE_EDGE, LE_I64, LE_I64, subscript, LE_NO_REG, LE_NO_REG, length, a->edge);
        if (a->address.layout->shape[d] == 0)
            check_axis(a, d, subscript, length);
        subscript = moved;
    }
    return subscript;
}

static void add_axis(struct access *a, int d) {
    int x = checked_subscript(a, d);
    int64_t stride = a->address.layout->strides[d];
    if (stride != 1)
        x = emit_result(a, LE_OP_MUL, LE_I64, LE_I64, x, use_constant(a, LE_I64, stride), LE_NO_REG, LE_NO_REG, 0);
    a->offset =
        a->offset == LE_NO_REG ? x : emit_result(a, LE_OP_ADD, LE_I64, LE_I64, a->offset, x, LE_NO_REG, LE_NO_REG, 0);
}

static void begin_access(struct access *a, struct gen *g, struct scope *scope, struct condition c) {
    a->g = g;
    a->scope = scope;
    a->c = c;
    a->inside = a->offset = LE_NO_REG;
    a->mask = c.mask ? le_gen_use(g, c.mask, scope) : LE_NO_REG;
    split_axes(a);
    for (int d = 0; d < a->address.rank; d++)
        if (!a->streams[d])
            add_axis(a, d);
}

static int both(struct access *a, int x, int y) {
    if (x == LE_NO_REG)
        return y;
    if (y == LE_NO_REG)
        return x;
    return emit_result(a, LE_OP_LAND, LE_BOOL, LE_BOOL, x, y, LE_NO_REG, LE_NO_REG, 0);
}

/* ---- loads */

static struct operand *loaded(struct access *a, int reg, bool vector, enum le_type type) {
    enum le_type stored = a->g->ir->values.at[a->value].type;
    bool given = stored == LE_BOOL && a->g->ir->values.at[a->value].stage < 0; /* any byte that is not 0 is true */
    if (given)
        stored = LE_U8;
    if (stored != type) {
        reg = emit_result(a, LE_CODE_CAST, stored, type, reg, LE_NO_REG, LE_NO_REG, LE_NO_REG, 0);
        vector = a->scope->in_lane;
    }
    struct operand *x = LE_NEW(a->g->arena, struct operand);
    *x = (struct operand){.reg = reg, .scope = a->scope, .vector = vector, .splat = -1};
    return x;
}

static struct operand *load_stream(struct access *a, enum le_type type) {
    enum le_type stored = a->g->ir->values.at[a->value].type;
    int pointer = make_pointer(a);
    if (!a->scope->in_lane)
        return loaded(a, pointer, false, type);
    int64_t stride = lane_stride(a);
    if (stride != size_of(a->g, a->value))
        pointer = emit_result(a, stride ? LE_CODE_LOAD : LE_CODE_SPLAT, stored, stored, pointer, LE_NO_REG, LE_NO_REG,
                              LE_NO_REG, stride);
    return loaded(a, pointer, true, type);
}

struct operand *le_gen_load(struct gen *g, struct le_node *node, struct scope *scope, struct condition c) {
    struct access a = {.value = node->value,
                       .address = le_load_address(g->kernel->layouts, node),
                       .number = node->access,
                       .edge = node->edge,
                       .trusted = node->trusted};
    begin_access(&a, g, scope, c);
    if (a.offset == LE_NO_REG)
        return load_stream(&a, node->type);
    enum le_type stored = g->ir->values.at[node->value].type;
    int mask = both(&a, a.mask, a.inside), pointer = make_pointer(&a);
    int reg = emit_result(&a, LE_CODE_GATHER, stored, stored, pointer, a.offset, mask, LE_NO_REG, in_rows(&a));
    struct operand *x = loaded(&a, reg, scope->in_lane, node->type);
    if (a.inside == LE_NO_REG)
        return x;
    int fill = le_gen_use(g, le_gen_node(g, node->fill, scope, (struct condition){.outside = -1}), scope);
    reg =
        emit_result(&a, LE_CODE_SELECT, node->type, node->type, a.inside, le_gen_use(g, x, scope), fill, LE_NO_REG, 0);
    struct operand *y = LE_NEW(g->arena, struct operand);
    *y = (struct operand){.reg = reg, .scope = scope, .vector = scope->in_lane, .splat = -1};
    return y;
}

/* ---- stores */

/* A temporary has exactly the elements that its indices reach. */
bool le_gen_target_is_trusted(const struct gen *g) {
    return g->ir->values.at[g->stage->target].symbol < 0;
}

struct le_address le_gen_target(const struct gen *g) {
    return (struct le_address){&g->kernel->layouts[g->stage->target], g->stage->left, g->stage->left_count, 0};
}

static struct access left_side(struct gen *g) {
    const struct le_stage *stage = g->stage;
    return (struct access){.value = stage->target,
                           .address = le_gen_target(g),
                           .number = stage->access,
                           .trusted = le_gen_target_is_trusted(g)};
}

bool le_gen_retarget(struct gen *g, struct operand *value, struct scope *scope, int reg) {
    if (value->scope != scope || scope->code.count == scope->bodies_end || value->splat >= 0)
        return false;
    struct le_instr *last = &scope->code.at[scope->code.count - 1];
    enum le_reg_kind kind = g->regs.at[value->reg].kind;
    if (le_code_is_control(last->code) || last->code == LE_CODE_FAULT || last->code == LE_CODE_OUTSIDE ||
        last->code == LE_CODE_NOTE || last->d != value->reg || (kind != LE_REG_SLOT && kind != LE_REG_SCALAR))
        return false;
    last->d = (uint16_t)reg;
    for (struct operand *x = value; x; x = x->origin)
        x->gone = true;
    return true;
}

static int64_t value_bytes(const struct access *a) {
    int64_t bytes = size_of(a->g, a->value);
    for (int d = 0; d < a->address.rank; d++)
        bytes *= a->address.layout->shape[d];
    return bytes;
}

static void store_stream(struct access *a, struct operand *value, bool is_last) {
    struct gen *g = a->g;
    enum le_type stored = g->ir->values.at[a->value].type, type = le_type_compute(stored);
    int pointer = make_pointer(a);
    int64_t stride = lane_stride(a), size = size_of(g, a->value);
    bool dense = !a->scope->in_lane || stride == size;
    bool past_caches = is_last && a->scope->in_lane && value_bytes(a) >= STREAM_BYTES_MIN;
    if (is_last && dense && stored == type && value->vector == a->scope->in_lane && !past_caches &&
        le_gen_retarget(g, value, a->scope, pointer))
        return;
    int reg = le_gen_use(g, value, a->scope);
    struct le_instr instr = {.code = LE_CODE_COPY,
                             .type = (uint8_t)type,
                             .type2 = (uint8_t)stored,
                             .d = (uint16_t)pointer,
                             .a = (uint16_t)reg,
                             .b = LE_NO_REG,
                             .c = LE_NO_REG,
                             .e = LE_NO_REG};
    if (dense && stored == type && past_caches)
        instr.code = LE_CODE_STREAM;
    if (dense && stored != type)
        instr.code = LE_CODE_CAST;
    if (!dense) {
        if (stored != type)
            instr.a = (uint16_t)emit_result(a, LE_CODE_CAST, type, stored, reg, LE_NO_REG, LE_NO_REG, LE_NO_REG, 0);
        instr.code = LE_CODE_STORE;
        instr.type = (uint8_t)stored;
        instr.imm = stride;
    }
    le_gen_emit(g, a->scope, instr);
}

static void emit_scatter(struct access *a, struct operand *value, enum le_scatter op, int pointer) {
    struct gen *g = a->g;
    enum le_type stored = g->ir->values.at[a->value].type, type = le_type_compute(stored);
    int reg = le_gen_use(g, value, a->scope);
    if (stored != type)
        reg = emit_result(a, LE_CODE_CAST, type, stored, reg, LE_NO_REG, LE_NO_REG, LE_NO_REG, 0);
    int offset = a->offset == LE_NO_REG ? use_constant(a, LE_I64, 0) : a->offset;
    le_gen_emit(g, a->scope,
                (struct le_instr){.code = LE_CODE_SCATTER,
                                  .type = (uint8_t)stored,
                                  .type2 = (uint8_t)stored,
                                  .d = (uint16_t)pointer,
                                  .a = (uint16_t)reg,
                                  .b = (uint16_t)offset,
                                  .c = (uint16_t)a->mask,
                                  .e = LE_NO_REG,
                                  .imm = op});
}

void le_gen_store(struct gen *g, struct operand *value, struct scope *scope) {
    struct access a = left_side(g);
    begin_access(&a, g, scope, (struct condition){.outside = -1});
    if (a.offset == LE_NO_REG)
        store_stream(&a, value, true);
    else
        emit_scatter(&a, value, LE_SCATTER_SET, make_pointer(&a));
}

/* Lanes without the mask keep what is there. */
static void store_masked(struct access *a, struct operand *value) {
    struct gen *g = a->g;
    enum le_type stored = g->ir->values.at[a->value].type, type = le_type_compute(stored);
    int pointer = make_pointer(a), now = pointer, made = le_gen_use(g, value, a->scope);
    int64_t stride = lane_stride(a);
    bool dense = !a->scope->in_lane || stride == size_of(g, a->value);
    if (stored != type)
        made = emit_result(a, LE_CODE_CAST, type, stored, made, LE_NO_REG, LE_NO_REG, LE_NO_REG, 0);
    if (!dense)
        now = emit_result(a, LE_CODE_LOAD, stored, stored, pointer, LE_NO_REG, LE_NO_REG, LE_NO_REG, stride);
    int chosen = emit_result(a, LE_CODE_SELECT, stored, stored, a->mask, made, now, LE_NO_REG, 0);
    struct le_instr *last = &a->scope->code.at[a->scope->code.count - 1];
    if (dense) {
        last->d = (uint16_t)pointer;
        return;
    }
    le_gen_emit(g, a->scope,
                (struct le_instr){.code = LE_CODE_STORE,
                                  .type = (uint8_t)stored,
                                  .type2 = (uint8_t)stored,
                                  .d = (uint16_t)pointer,
                                  .a = (uint16_t)chosen,
                                  .b = LE_NO_REG,
                                  .c = LE_NO_REG,
                                  .e = LE_NO_REG,
                                  .imm = stride});
}

/* Lanes that may meet at one place store one after the other. */
void le_gen_store_step(struct gen *g, const struct stored *to, struct operand *value, struct scope *scope,
                       struct condition c) {
    struct access a = {.value = to->value,
                       .address = {&g->kernel->layouts[to->value], to->subscripts, to->rank, 0},
                       .number = to->access};
    if (to->own) {
        begin_access(&a, g, scope, c);
        if (a.offset != LE_NO_REG)
            emit_scatter(&a, value, LE_SCATTER_SET, make_pointer(&a));
        else if (c.mask && scope->in_lane)
            store_masked(&a, value);
        else
            store_stream(&a, value, false);
        return;
    }
    a.g = g;
    a.scope = scope;
    a.c = c;
    a.inside = a.offset = LE_NO_REG;
    a.mask = c.mask ? le_gen_use(g, c.mask, scope) : LE_NO_REG;
    for (int d = 0; d < a.address.rank; d++)
        add_axis(&a, d);
    emit_scatter(&a, value, to->op, make_pointer(&a));
}

/* Every axis is computed for every lane: different lanes may meet at one element. */
void le_gen_scatter(struct gen *g, struct operand *value, struct scope *scope, bool copies, int64_t copy_bytes) {
    struct access a = left_side(g);
    a.g = g;
    a.scope = scope;
    a.c = (struct condition){.outside = -1};
    a.mask = a.inside = a.offset = LE_NO_REG;
    for (int d = 0; d < a.address.rank; d++)
        add_axis(&a, d);
    int pointer = make_pointer(&a);
    if (copies) {
        g->regs.at[pointer].buffer = LE_PARTS;
        g->regs.at[pointer].task_stride = copy_bytes;
    }
    emit_scatter(&a, value, g->stage->scatter, pointer);
}
