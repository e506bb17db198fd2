//: le_vm
// As tape.c lays it out: a head, and each part where `..._at` says, in bytes.
struct le_vm_tape {
    int instr_count, loop_count, reg_count, block, instrs_at, loops_at, streams_at, regs_at;
    long long clip_count[2], clip_size[2], clip_pieces[2];
};
struct le_vm_instr { unsigned short op, d, a, b, c, e, single, count; long long imm; };
struct le_vm_loop {
    int end, clip, lane, down, stream, stream_count, low, high, value, unused;
    long long by;
};
struct le_vm_stream { long long reg, stride; };
struct le_vm_reg { int kind, buffer; long long bits, task_stride; };
// The machine of device/cpu/machine/execute.c, in one block of threads, which is a task: a thread has a few lanes. What lanes
// have of their own (elements of slots) their thread reads and writes by itself; what they share (registers' addresses,
// scalars, accumulators) one thread changes, between two barriers.
enum { LE_VM_LANES = 512, LE_VM_THREADS = 128, LE_VM_BUFFERS = 16, LE_VM_DEPTH = 24 };
enum { LE_VM_SLOT = 0x8000, LE_VM_NONE = 0xffff }; // of a register's number
enum { LE_VM_LOOP = 0, LE_VM_REPEAT, LE_VM_LEAVE, LE_VM_SKIP, LE_VM_FIRST };
struct alignas(16) le_vm_word { unsigned long long low, high; };
struct le_vm {
    char **regs;
    le_vm_word *room, *warps; // of a block's lanes, and of its warps, for totals
    int block, thread, n;     // lanes at most; this thread; how many lanes there are now
    int lane;                 // the one at work, of this thread's
};
// The lane's element. In a slot, whose number has LE_VM_SLOT, every lane has 8 bytes whatever the type is: what one
// thread writes there is never what another one has yet to read as another type.
template <class T> __device__ inline T *le_vm_at(const le_vm &m, int reg) {
    return (T *)(m.regs[reg & ~LE_VM_SLOT] + m.lane * (reg & LE_VM_SLOT ? 8 : (int)sizeof(T)));
}
template <class T> __device__ inline T le_vm_get(const le_vm &m, int reg) { return *le_vm_at<const T>(m, reg); }
template <> __device__ inline bool le_vm_get<bool>(const le_vm &m, int reg) {
    return *le_vm_at<const unsigned char>(m, reg) != 0;
}
template <class T> __device__ inline T le_vm_one(const le_vm &m, int reg) {
    return *(const T *)m.regs[reg & ~LE_VM_SLOT];
}
template <class T> __device__ inline void le_vm_set(const le_vm &m, int reg, T x) { *le_vm_at<T>(m, reg) = x; }
// The same of all lanes: x[m.lane] is where le_vm_at<T>(m, reg) points.
template <class T> struct le_vm_of {
    char *at;
    int step;
    __device__ inline le_vm_of(const le_vm &m, int reg)
        : at(m.regs[reg & ~LE_VM_SLOT]), step(reg & LE_VM_SLOT ? 8 : (int)sizeof(T)) {}
    __device__ inline T &operator[](int lane) const { return *(T *)(at + lane * step); }
};
// Whether a lane is among those that a mask names; there may be none, and then all are.
__device__ inline bool le_vm_is(const le_vm &m, int reg) { return reg == LE_VM_NONE || le_vm_get<bool>(m, reg); }
template <class T> __device__ inline T le_vm_load(const le_vm &m, const le_vm_instr &i) {
    return *(const T *)(m.regs[i.a] + m.lane * i.imm);
}
template <class T> __device__ inline void le_vm_store(const le_vm &m, const le_vm_instr &i) {
    *(T *)(m.regs[i.d] + m.lane * i.imm) = le_vm_get<T>(m, i.a);
}
template <class T> __device__ inline T le_vm_gather(const le_vm &m, const le_vm_instr &i) {
    return le_vm_is(m, i.c) ? ((const T *)m.regs[i.a])[le_vm_get<long long>(m, i.b)] : (T)0;
}
__device__ inline float le_vm_add_square(float x, float sum) { return fmaf(x, x, sum); }
__device__ inline double le_vm_add_square(double x, double sum) { return fma(x, x, sum); }
// i.imm: enum le_distance
template <class T> __device__ inline T le_vm_distance(const le_vm &m, const le_vm_instr &i) {
    const T apart = le_vm_get<T>(m, i.a) - (i.imm & 1 ? le_vm_one<T>(m, i.b) : le_vm_get<T>(m, i.b));
    if (i.c == LE_VM_NONE)
        return apart * apart;
    const T sum = le_vm_get<T>(m, i.c);
    return i.imm & 2 ? le_vm_add_square(apart, sum) : sum + apart * apart;
}
__device__ inline bool le_vm_in_range(const le_vm &m, const le_vm_instr &i) {
    const long long x = le_vm_get<long long>(m, i.a);
    return le_vm_is(m, i.b) && x >= 0 && x < le_vm_one<long long>(m, i.e);
}
__device__ inline bool le_vm_outside(const le_vm &m, const le_vm_instr &i) {
    return le_vm_get<bool>(m, i.d) || (le_vm_is(m, i.b) && (i.c == LE_VM_NONE || !le_vm_get<bool>(m, i.c)));
}
// how: enum le_edge
__device__ inline long long le_vm_edge(long long x, long long extent, int how) {
    if (extent <= 0)
        return 0;
    return how == 1 ? le_edge_clamp(x, extent) : how == 2 ? le_edge_wrap(x, extent)
         : how == 3 ? le_edge_mirror(x, extent) : le_edge_symmetric(x, extent);
}
// The place of the least (or greatest) term, the first of several; a NaN's before all. join: with terms that come
// later.
template <class T, bool GREATEST> struct le_vm_first {
    enum { ORDERED = 0 };
    T best;
    long long at;
    __device__ static inline le_vm_first none() { return {(T)0, le_nowhere}; }
    __device__ static inline le_vm_first of(T x, long long at) { return {x, at}; }
    __device__ inline le_vm_first join(le_vm_first b) const {
        const bool beats = GREATEST ? le_is_higher(at, best, b.best) : le_is_lower(at, best, b.best);
        return b.at != le_nowhere && beats ? b : *this;
    }
    __device__ inline le_vm_first across(int lanes) const { return {le_across(best, lanes), le_across(at, lanes)}; }
    __device__ inline long long value(bool) const { return at == le_nowhere ? -1 : at; }
};
// count: of terms. Of totals whose order shows, pending[b] is one of 2^b terms where bit b of count is set; of others
// the first is all there is.
template <class M> struct le_vm_acc { long long count; alignas(16) M pending[64]; };
template <class M> __device__ inline void le_vm_begin(const le_vm &m, const le_vm_instr &i) {
    le_vm_acc<M> *acc = (le_vm_acc<M> *)m.regs[i.d];
    if (m.thread == 0) {
        acc->count = 0;
        acc->pending[0] = M::none();
    }
}
// The tree over what the first `size` threads have, a power of two; for the first thread.
template <class M> __device__ inline M le_vm_across(M *warps, int thread, M x, int size) {
#pragma unroll 1
    for (int threads = 1; threads < 32 && threads < size; threads *= 2)
        x = x.join(x.across(threads));
    if (size <= 32)
        return x;
    if (thread % 32 == 0)
        warps[thread / 32] = x;
    __syncthreads();
    x = warps[0];
    x = x.join(warps[1]);
    return size > 64 ? x.join(warps[2].join(warps[3])) : x;
}
// From term `from` on the largest subtree of the reduction's tree that `rest` terms fill.
__device__ inline int le_vm_piece(long long from, int rest) {
    int size = LE_VM_LANES;
    while (size > rest || (from & (size - 1)) != 0)
        size /= 2;
    return size;
}
// The tree over `size` neighbours of the room, a power of two; for the first thread.
template <class M> __device__ inline M le_vm_tree(const M *room, M *warps, int thread, int size) {
    const int each = size / LE_VM_THREADS;
    if (each <= 1)
        return le_vm_across(warps, thread, thread < size ? room[thread] : M::none(), size);
    room += thread * each;
    M x = room[0].join(room[1]);
    if (each == 4)
        x = x.join(room[2].join(room[3]));
    return le_vm_across(warps, thread, x, LE_VM_THREADS);
}
// n terms, one for each lane, have been put into the room: they follow those that were there, subtree after subtree,
// each joined to those of its size that wait, as a binary counter carries. Where no order shows all are one piece.
template <class M> __device__ __noinline__ void le_vm_add(le_vm_acc<M> *acc, M *room, M *warps, int thread, int n) {
#pragma unroll 1
    for (int lane = n + thread; !M::ORDERED && lane < LE_VM_LANES; lane += LE_VM_THREADS)
        room[lane] = M::none();
    __syncthreads();
    const unsigned long long count = (unsigned long long)acc->count;
#pragma unroll 1
    for (int done = 0, size; done < n; done += size) {
        size = M::ORDERED ? le_vm_piece((long long)count + done, n - done) : LE_VM_LANES;
        M total = le_vm_tree(room + done, warps, thread, size);
        if (thread == 0) {
            int level = M::ORDERED ? 31 - __clz(size) : 0;
#pragma unroll 1
            for (; M::ORDERED && (count + done) >> level & 1; level++)
                total = acc->pending[level].join(total);
            acc->pending[level] = M::ORDERED ? total : acc->pending[0].join(total);
        }
        __syncthreads();
    }
    if (thread == 0)
        acc->count = (long long)count + n;
}
template <class M> __device__ __noinline__ M le_vm_end(const le_vm_acc<M> *acc) {
    M total = acc->pending[0];
    if (!M::ORDERED || acc->count == 0)
        return acc->count == 0 ? M::none() : total;
    unsigned long long rest = (unsigned long long)acc->count;
    total = acc->pending[__ffsll((long long)rest) - 1];
#pragma unroll 1
    for (rest &= rest - 1; rest != 0; rest &= rest - 1)
        total = acc->pending[__ffsll((long long)rest) - 1].join(total);
    return total;
}
template <class M> __device__ inline bool le_vm_is_empty(const le_vm &m, const le_vm_instr &i) {
    return ((const le_vm_acc<M> *)m.regs[i.a])->count == 0;
}
// Totals lane by lane: how many terms each has had, whether any counted, and what waits, level by level.
struct le_vm_lane_counts { long long count[LE_VM_LANES]; unsigned char seen[LE_VM_LANES]; };
template <class M> __device__ inline M *le_vm_level(char *acc, int lane, int level) {
    return (M *)(acc + sizeof(le_vm_lane_counts)) + level * LE_VM_LANES + lane;
}
template <class M> __device__ inline void le_vm_lanes_begin(const le_vm &m, const le_vm_instr &i) {
    le_vm_lane_counts *counts = (le_vm_lane_counts *)m.regs[i.d];
    counts->count[m.lane] = 0;
    counts->seen[m.lane] = 0;
    *le_vm_level<M>(m.regs[i.d], m.lane, 0) = M::none();
}
template <class M> __device__ inline void le_vm_lanes_add(const le_vm &m, const le_vm_instr &i, M x) {
    le_vm_lane_counts *counts = (le_vm_lane_counts *)m.regs[i.d];
    const bool omitted = i.c != LE_VM_NONE && le_vm_get<bool>(m, i.c);
    x = omitted ? M::none() : x;
    counts->seen[m.lane] |= !omitted;
    M *at = le_vm_level<M>(m.regs[i.d], m.lane, 0);
    if (!M::ORDERED) {
        *at = at->join(x);
        return;
    }
    unsigned long long before = (unsigned long long)counts->count[m.lane]++;
#pragma unroll 1
    for (; before & 1; before >>= 1, at += LE_VM_LANES)
        x = at->join(x);
    *at = x;
}
template <class M> __device__ inline M le_vm_lanes_end(const le_vm &m, const le_vm_instr &i) {
    const le_vm_lane_counts *counts = (const le_vm_lane_counts *)m.regs[i.a];
    const M *at = le_vm_level<M>(m.regs[i.a], m.lane, 0);
    if (!M::ORDERED)
        return *at;
    M total = M::none();
    bool first = true;
#pragma unroll 1
    for (unsigned long long rest = (unsigned long long)counts->count[m.lane]; rest; rest >>= 1, at += LE_VM_LANES)
        if (rest & 1) {
            total = first ? *at : at->join(total);
            first = false;
        }
    return total;
}
__device__ inline bool le_vm_is_unseen(const le_vm &m, const le_vm_instr &i) {
    return !((const le_vm_lane_counts *)m.regs[i.a])->seen[m.lane];
}
// An open loop, or a REPEAT, whose `loop` is NULL: its body is [body, end), turn `at` of `count` is at work.
struct le_vm_frame {
    const le_vm_loop *loop;
    int body, end, outer; // outer: lanes outside of it
    long long low, all, at, count, moved;
};
// Which turns of the loop are this task's.
__device__ inline void le_vm_clip(const le_vm_tape *tape, const le_vm_loop *loop, long long task, long long *from,
                                  long long *to) {
    const int c = loop->clip;
    const long long grain = loop->lane ? tape->block : 1;
    long long inner = tape->clip_pieces[1] ? tape->clip_pieces[1] : 1;
    if (tape->clip_pieces[1] == 0 && tape->clip_count[1])
        inner = (tape->clip_count[1] + tape->clip_size[1] - 1) / tape->clip_size[1];
    const long long piece = c == 0 ? task / inner : task % inner, pieces = tape->clip_pieces[c];
    long long size = tape->clip_size[c];
    if (pieces)
        size = ((*to + pieces - 1) / pieces + grain - 1) / grain * grain;
    else if (tape->clip_count[c] == 0)
        return;
    *from = piece * size;
    *to = *from + size < *to ? *from + size : *to;
}
__device__ inline void le_vm_move(const le_vm &m, const le_vm_stream *streams, const le_vm_loop *loop,
                                  long long steps) {
#pragma unroll 1
    for (int k = m.thread; k < loop->stream_count; k += LE_VM_THREADS)
        m.regs[streams[loop->stream + k].reg] += streams[loop->stream + k].stride * steps;
}
// The frame's turn `at` begins: its lanes, its streams, its index.
__device__ inline void le_vm_turn(le_vm &m, const le_vm_stream *streams, le_vm_frame &f) {
    const le_vm_loop *loop = f.loop;
    const long long rest = f.count - f.at;
    m.n = loop->lane ? (int)(rest < m.block ? rest : m.block) : f.outer;
    const long long first = f.low + (loop->down ? f.all - f.at - (loop->lane ? m.n : 1) : f.at) * loop->by;
    __syncthreads();
    le_vm_move(m, streams, loop, first - f.moved);
    if (m.thread == 0 && loop->value != LE_VM_NONE)
        *(long long *)m.regs[loop->value] = first;
    f.moved = first;
    __syncthreads();
}
__device__ inline void le_vm_leave(le_vm &m, const le_vm_stream *streams, const le_vm_frame &f) {
    m.n = f.outer;
    __syncthreads();
    if (f.loop)
        le_vm_move(m, streams, f.loop, -f.moved);
    __syncthreads();
}
// Opens a loop; false: it has no turns.
__device__ inline bool le_vm_enter(le_vm &m, const le_vm_tape *tape, const le_vm_loop *loop, long long task,
                                   le_vm_frame &f) {
    const long long low = le_vm_one<long long>(m, loop->low), high = le_vm_one<long long>(m, loop->high);
    if (high <= low)
        return false;
    f.loop = loop;
    f.end = loop->end;
    f.outer = m.n;
    f.low = low;
    const unsigned long long way = (unsigned long long)high - (unsigned long long)low - 1;
    f.all = f.count = (long long)(way / (unsigned long long)loop->by) + 1;
    f.at = f.moved = 0;
    if (loop->clip >= 0)
        le_vm_clip(tape, loop, task, &f.at, &f.count);
    return f.at < f.count;
}
// Where the registers lie: kinds as in enum place (tape.c).
__device__ inline void le_vm_start(const le_vm &m, const le_vm_tape *tape, char *const *buffers, char *room) {
    const le_vm_reg *regs = (const le_vm_reg *)((const char *)tape + tape->regs_at);
#pragma unroll 1
    for (int k = m.thread; k < tape->reg_count; k += LE_VM_THREADS) {
        const le_vm_reg &r = regs[k];
        m.regs[k] = r.kind == 0   ? room + r.bits + (long long)blockIdx.x * r.task_stride
                    : r.kind == 1 ? (char *)&r.bits
                                  : buffers[r.buffer] + r.bits + (long long)blockIdx.x * r.task_stride;
    }
}
// Bodies that end at `at` begin again or are left: where the machine goes on, and where the body that it is in ends.
__device__ inline int le_vm_ends(le_vm &m, const le_vm_stream *streams, le_vm_frame *frames, int at, int &depth,
                                 int &end) {
    for (; depth > 0 && at == frames[depth - 1].end; depth--) {
        le_vm_frame &f = frames[depth - 1];
        end = f.end;
        if (!f.loop)
            return f.body;
        f.at += f.loop->lane ? m.block : 1;
        if (f.at < f.count) {
            le_vm_turn(m, streams, f);
            return f.body;
        }
        le_vm_leave(m, streams, f);
    }
    end = depth > 0 ? frames[depth - 1].end : -1;
    return at;
}
// Whether a mask holds for any lane.
__device__ inline bool le_vm_any(le_vm &m, int reg) {
    bool any = false;
#pragma unroll 1
    for (m.lane = m.thread; m.lane < m.n; m.lane += LE_VM_THREADS)
        any |= le_vm_get<bool>(m, reg);
    return __syncthreads_or(any);
}
// LOOP, REPEAT, LEAVE and SKIP: the same.
__device__ inline int le_vm_control(le_vm &m, const le_vm_tape *tape, const le_vm_loop *loops,
                                    const le_vm_stream *streams, le_vm_frame *frames, const le_vm_instr &i,
                                    int at, int &depth, int &end) {
    le_vm_frame &f = frames[depth];
    f.body = at;
    if (i.op == LE_VM_LOOP) {
        if (!le_vm_enter(m, tape, loops + i.imm, blockIdx.x, f))
            return loops[i.imm].end;
        depth++;
        end = f.end;
        le_vm_turn(m, streams, f);
        return at;
    }
    if (i.op == LE_VM_REPEAT) {
        f.loop = 0;
        end = f.end = (int)i.imm;
        f.outer = m.n;
        depth++;
        return at;
    }
    if (le_vm_any(m, i.a))
        return at;
    if (i.op == LE_VM_SKIP)
        return (int)i.imm;
    depth--;
    at = frames[depth].end;
    le_vm_leave(m, streams, frames[depth]);
    end = depth > 0 ? frames[depth - 1].end : -1;
    return at;
}
