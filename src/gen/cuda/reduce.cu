//: le_across le_from_lane
template <class T> __device__ inline T le_across(T x, int lanes) { return (T)__shfl_xor_sync(0xffffffffu, x, lanes); }
template <class T> __device__ inline T le_from_lane(T x, int lane) { return (T)__shfl_sync(0xffffffffu, x, lane); }
//: le_is_real
template <class T> __device__ constexpr inline bool le_is_real() { return (T)0.5 != (T)0; }
// Totals, as reductions put them together. none(): of no terms, which changes nothing that it is joined to; of(x): of one
// term; value(empty): the result. a.join(b) is b.join(a); ORDERED: which two are joined first shows in the result.
//: le_then
// The same as a.join(b) where all of b's terms come after those of a.
template <class M> __device__ inline M le_then(const M &a, const M &b) { return a.join(b); }
//: le_sum
template <class T> struct le_sum {
    enum { ORDERED = le_is_real<T>() };
    T total;
    __device__ static inline le_sum none() { return {(T)-0.0}; }
    __device__ static inline le_sum of(T x) { return {x}; }
    __device__ inline le_sum join(le_sum b) const {
        return {ORDERED ? (T)(total + b.total) : (T)((unsigned long long)total + (unsigned long long)b.total)};
    }
    __device__ inline le_sum across(int lanes) const { return {le_across(total, lanes)}; }
    __device__ inline le_sum from_lane(int lane) const { return {le_from_lane(total, lane)}; }
    __device__ inline T value(bool empty) const { return empty ? (T)0 : total; }
};
//: le_product
template <class T> struct le_product {
    enum { ORDERED = le_is_real<T>() };
    T total;
    __device__ static inline le_product none() { return {(T)1}; }
    __device__ static inline le_product of(T x) { return {x}; }
    __device__ inline le_product join(le_product b) const {
        return {ORDERED ? (T)(total * b.total) : (T)((unsigned long long)total * (unsigned long long)b.total)};
    }
    __device__ inline le_product across(int lanes) const { return {le_across(total, lanes)}; }
    __device__ inline le_product from_lane(int lane) const { return {le_from_lane(total, lane)}; }
    __device__ inline T value(bool) const { return total; }
};
//: le_top le_bottom
template <class T> __device__ inline T le_top() {
    return (T)-1 < (T)0 ? (T)(~0ull >> (65 - 8 * sizeof(T))) : (T)~0ull;
}
template <> __device__ inline float le_top<float>() { return le_infinity<float>(); }
template <> __device__ inline double le_top<double>() { return le_infinity<double>(); }
template <class T> __device__ inline T le_bottom() { return (T)-1 < (T)0 ? (T)~le_top<T>() : (T)0; }
template <> __device__ inline float le_bottom<float>() { return -le_infinity<float>(); }
template <> __device__ inline double le_bottom<double>() { return -le_infinity<double>(); }
//: le_least
template <class T> struct le_least {
    enum { ORDERED = 0 };
    T best;
    __device__ static inline le_least none() { return {le_top<T>()}; }
    __device__ static inline le_least of(T x) { return {x}; }
    __device__ inline le_least join(le_least b) const { return {le_lower(best, b.best)}; }
    __device__ inline le_least across(int lanes) const { return {le_across(best, lanes)}; }
    __device__ inline le_least from_lane(int lane) const { return {le_from_lane(best, lane)}; }
    __device__ inline T value(bool) const { return le_canonical(best); }
};
//: le_greatest
template <class T> struct le_greatest {
    enum { ORDERED = 0 };
    T best;
    __device__ static inline le_greatest none() { return {le_bottom<T>()}; }
    __device__ static inline le_greatest of(T x) { return {x}; }
    __device__ inline le_greatest join(le_greatest b) const { return {le_higher(best, b.best)}; }
    __device__ inline le_greatest across(int lanes) const { return {le_across(best, lanes)}; }
    __device__ inline le_greatest from_lane(int lane) const { return {le_from_lane(best, lane)}; }
    __device__ inline T value(bool) const { return le_canonical(best); }
};
//: le_any
struct le_any {
    enum { ORDERED = 0 };
    bool found;
    __device__ static inline le_any none() { return {false}; }
    __device__ static inline le_any of(bool x) { return {x}; }
    __device__ inline le_any join(le_any b) const { return {found || b.found}; }
    __device__ inline le_any across(int lanes) const { return {le_across(found, lanes)}; }
    __device__ inline le_any from_lane(int lane) const { return {le_from_lane(found, lane)}; }
    __device__ inline bool value(bool) const { return found; }
};
//: le_all
struct le_all {
    enum { ORDERED = 0 };
    bool hold;
    __device__ static inline le_all none() { return {true}; }
    __device__ static inline le_all of(bool x) { return {x}; }
    __device__ inline le_all join(le_all b) const { return {hold && b.hold}; }
    __device__ inline le_all across(int lanes) const { return {le_across(hold, lanes)}; }
    __device__ inline le_all from_lane(int lane) const { return {le_from_lane(hold, lane)}; }
    __device__ inline bool value(bool) const { return hold; }
};
//: le_first
// The least (or greatest) term's place, the first of several; a NaN's before all. at -1: there was none, which beats no term.
// There are no branches, so that several reads can be in flight.
template <class T, class N, bool GREATEST> struct le_first {
    enum { ORDERED = 0 };
    T best;
    N at;
    __device__ static inline le_first none() { return {GREATEST ? le_bottom<T>() : le_top<T>(), (N)-1}; }
    __device__ static inline le_first of(T x, N at) { return {x, at}; }
    __device__ static inline bool beats(T a, T b) { return !(GREATEST ? a <= b : a >= b) & (b == b); }
    __device__ static inline bool before(int a, int b) { return (unsigned)a < (unsigned)b; }
    __device__ static inline bool before(long long a, long long b) {
        return (unsigned long long)a < (unsigned long long)b;
    }
    __device__ inline le_first taken(const le_first &b, bool takes) const { return {takes ? b.best : best, takes ? b.at : at}; }
    __device__ inline le_first join(const le_first &b) const {
        return taken(b, beats(b.best, best) | (before(b.at, at) & !beats(best, b.best)));
    }
    __device__ inline le_first across(int lanes) const { return {le_across(best, lanes), le_across(at, lanes)}; }
    __device__ inline le_first from_lane(int lane) const { return {le_from_lane(best, lane), le_from_lane(at, lane)}; }
    __device__ inline N value(bool) const { return at; }
};
template <class T, class N, bool GREATEST>
__device__ inline le_first<T, N, GREATEST> le_then(const le_first<T, N, GREATEST> &a, const le_first<T, N, GREATEST> &b) {
    return a.taken(b, a.beats(b.best, a.best) | a.before(b.at, a.at));
}
//: le_both
template <class A, class B> struct le_both {
    enum { ORDERED = A::ORDERED || B::ORDERED };
    A a;
    B b;
    __device__ static inline le_both none() { return {A::none(), B::none()}; }
    __device__ inline le_both join(const le_both &o) const { return {a.join(o.a), b.join(o.b)}; }
    __device__ inline le_both across(int lanes) const { return {a.across(lanes), b.across(lanes)}; }
    __device__ inline le_both from_lane(int lane) const { return {a.from_lane(lane), b.from_lane(lane)}; }
};
template <class A, class B> __device__ inline le_both<A, B> le_then(const le_both<A, B> &a, const le_both<A, B> &b) {
    return {le_then(a.a, b.a), le_then(a.b, b.b)};
}
//: le_several le_several_of
// The totals of V points, which one thread computes together.
template <class M, int V> struct le_several {
    enum { ORDERED = M::ORDERED };
    M at[V];
    template <class Each> __device__ static inline le_several made(const Each &each) {
        le_several t;
#pragma unroll
        for (int k = 0; k < V; k++)
            t.at[k] = each(k);
        return t;
    }
    __device__ static inline le_several none() { return made([](int) { return M::none(); }); }
    __device__ inline le_several join(const le_several &o) const {
        return made([&](int k) { return at[k].join(o.at[k]); });
    }
    __device__ inline le_several across(int lanes) const { return made([&](int k) { return at[k].across(lanes); }); }
    __device__ inline le_several from_lane(int lane) const { return made([&](int k) { return at[k].from_lane(lane); }); }
};
template <class M, int V>
__device__ inline le_several<M, V> le_then(const le_several<M, V> &a, const le_several<M, V> &b) {
    return a.made([&](int k) { return le_then(a.at[k], b.at[k]); });
}
template <class S, class M, int V> __device__ inline S le_several_of(const M (&totals)[V]) {
    return S::made([&](int k) { return totals[k]; });
}
//: le_read le_chunk
// W neighbours from an address that is a multiple of their size, or of 16 bytes. Such as no vector has come byte by byte.
template <int BYTES, bool WHOLE = BYTES % 16 == 0> struct le_chunk { typedef unsigned char type; };
template <int BYTES> struct le_chunk<BYTES, true> { typedef uint4 type; };
template <> struct le_chunk<8> { typedef uint2 type; };
template <> struct le_chunk<4> { typedef unsigned type; };
template <> struct le_chunk<2> { typedef unsigned short type; };
template <int W, class T> __device__ inline void le_read(T (&to)[W], const T *from) {
    typedef typename le_chunk<W * sizeof(T)>::type chunk;
    union { chunk chunks[W * sizeof(T) / sizeof(chunk)]; T at[W]; } all;
#pragma unroll
    for (int k = 0; k < (int)(W * sizeof(T) / sizeof(chunk)); k++)
        all.chunks[k] = ((const chunk *)from)[k];
#pragma unroll
    for (int k = 0; k < W; k++)
        to[k] = all.at[k];
}
//: le_joined le_neighbours
// W neighbours' total, W a power of two. IN_ORDER: those behind in t have later terms.
template <class M, int W, bool IN_ORDER> struct le_neighbours {
    __device__ static inline M join(const M *t) {
        const M first = le_neighbours<M, W / 2, IN_ORDER>::join(t);
        const M rest = le_neighbours<M, W / 2, IN_ORDER>::join(t + W / 2);
        return IN_ORDER ? le_then(first, rest) : first.join(rest);
    }
};
template <class M, bool IN_ORDER> struct le_neighbours<M, 1, IN_ORDER> {
    __device__ static inline M join(const M *t) { return *t; }
};
template <class M, int W, bool IN_ORDER = true> __device__ inline M le_joined(const M (&t)[W]) {
    return le_neighbours<M, W, IN_ORDER>::join(t);
}
//: le_warp_tree le_warp_trees
// All lanes' total, in all lanes.
template <class M> __device__ inline M le_warp_tree(M t) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
        t = t.join(t.across(d));
    return t;
}
// The same of U totals that each lane has, U a power of two: lane k gets that of t[k % U]. LANES neighbours join their
// totals, at least U, both powers of two.
template <class M, int U, int LANES = 32> __device__ inline M le_warp_trees(M (&t)[U]) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int level = 0; 1 << level < LANES; level++) {
        const int d = 1 << level, n = U >> (level + 1);
        if (n == 0)
            t[0] = t[0].join(t[0].across(d));
#pragma unroll
        for (int k = 0; k < U / 2; k++) {
            if (k >= n)
                continue;
            const M own = lane & d ? t[2 * k + 1] : t[2 * k], other = lane & d ? t[2 * k] : t[2 * k + 1];
            t[k] = own.join(other.across(d));
        }
    }
    return t[0];
}
//: le_lanes_total
// Of rows of LANES neighbours that each have LINES totals of each row, the first row's first: lane k gets that of row
// k / LINES.
template <class M, int LANES, int LINES, int U> __device__ inline M le_lanes_total(M (&t)[U]) {
    M total = le_warp_trees<M, U, LANES>(t);
#pragma unroll
    for (int d = 1; d < LINES; d *= 2)
        total = total.join(total.across(d));
    return total;
}
//: le_short_total
// Of at most LANES * W terms by that many neighbours, in each of them. count is a multiple of W.
template <class M, int LANES, int W, class N, class Terms> __device__ inline M le_short_total(N count, const Terms &terms) {
    const N at = (N)(threadIdx.x & (LANES - 1)) * W;
    M t[1] = {M::none()};
    if (at < count)
        t[0] = terms(at);
    return le_lanes_total<M, LANES, 1>(t);
}
//: le_warp_lines le_warp_total le_warp_keep
// A complete subtree, in all lanes: LINES (a power of two up to 32) lines of 32 * W terms from `first` on; what stands at
// count or behind it is none. U lines (a power of two up to LINES) are read at once. terms(at): the total of W neighbours; ends(at):
// of those before count, some of which are there.
template <class M, int U> __device__ inline M le_warp_keep(M kept, M (&t)[U], int line) {
    if (!M::ORDERED)
        return kept.join(le_joined<M, U>(t));
    const M total = le_warp_trees<M, U>(t);
    return (int)(threadIdx.x & 31) / U == line / U ? total : kept;
}
template <class M, int LINES, int U, int W, class N, class Terms, class Ends>
__device__ inline M le_warp_lines(N first, N count, const Terms &terms, const Ends &ends) {
    const N at = first + (N)(threadIdx.x & 31) * W;
    M kept = M::none();
#pragma unroll 1
    for (int line = 0; line < LINES && first + (N)line * 32 * W < count; line += U) {
        M t[U];
        if (first + (N)(line + U) * 32 * W <= count) {
#pragma unroll
            for (int k = 0; k < U; k++)
                t[k] = terms(at + (N)(line + k) * 32 * W);
        } else {
#pragma unroll
            for (int k = 0; k < U; k++)
                t[k] = at + (N)(line + k) * 32 * W < count ? ends(at + (N)(line + k) * 32 * W) : M::none();
        }
        kept = le_warp_keep<M, U>(kept, t, line);
    }
    return le_warp_tree(kept);
}
template <class M, int LINES, int U, int W, class N, class Terms>
__device__ inline M le_warp_lines(N first, N count, const Terms &terms) {
    return le_warp_lines<M, LINES, U, W, N>(first, count, terms, terms);
}
// The same where count may be no multiple of W; term(at): of one.
template <class M, int LINES, int U, int W, class N, class Terms, class Term>
__device__ inline M le_warp_total(N first, N count, const Terms &terms, const Term &term) {
    if (W == 1 || first + (N)LINES * 32 * W <= count)
        return le_warp_lines<M, LINES, U, W, N>(first, count, terms);
    M kept = M::none();
#pragma unroll 1
    for (int part = 0; part < W; part++) {
        const M t = le_warp_lines<M, LINES, U, 1, N>(first + (N)part * LINES * 32, count, term);
        kept = (int)(threadIdx.x & 31) == part ? t : kept;
    }
    return le_warp_tree(kept);
}
//: le_ends le_ends_of
// The `ends` of le_warp_lines, for le_block_total.
template <class Terms> struct le_ends { const Terms &terms; };
template <class Terms> __device__ inline le_ends<Terms> le_ends_of(const Terms &terms) { return {terms}; }
template <class M, int LINES, int U, int W, class N, class Terms, class Ends>
__device__ inline M le_warp_total(N first, N count, const Terms &terms, const le_ends<Ends> &ends) {
    return le_warp_lines<M, LINES, U, W, N>(first, count, terms, ends.terms);
}
//: le_pending
// Totals of equal numbers of terms, one after the other, each in all lanes: a binary counter, whose digit b is lane b's.
template <class M> struct le_pending {
    M digit;
    unsigned count;
    __device__ inline le_pending() : digit(M::none()), count(0) {}
    __device__ inline void add(M t) {
        int b = 0;
        for (; count >> b & 1; b++)
            t = digit.from_lane(b).join(t);
        digit = (int)(threadIdx.x & 31) == b ? t : digit;
        count++;
    }
    __device__ inline M total() const {
        M t = M::none();
        for (int b = 0; count >> b != 0; b++)
            t = count >> b & 1 ? digit.from_lane(b).join(t) : t;
        return t;
    }
};
//: le_warp_all
// Returns the total of any number of terms, which one warp adds, in all its lanes.
template <class M, int U, class N, class Terms> __device__ inline M le_warp_all(N count, const Terms &terms) {
    le_pending<M> pending;
#pragma unroll 1
    for (N first = 0; first < count; first += 1024)
        pending.add(le_warp_lines<M, 32, U, 1, N>(first, count, terms));
    return pending.total();
}
//: le_room
// Room for S totals. With S < 256 it is filled only once, so there is no second half.
template <class M, int S> struct le_room {
    enum { TURNS = S < 256 ? 1 : 2 };
    M at[TURNS][S];
};
//: le_block_total
// Of any number of terms by a block, in all its threads: its warps take turns at subtrees, and every warp joins those of
// le_room. Its threads meet.
template <class M, int LINES, int U, int W, class N, class Terms, class Term, int ROOM>
__device__ inline M le_block_total(N count, const Terms &terms, const Term &term, le_room<M, ROOM> &room) {
    enum { STEP = LINES * 32 * W };
    const int warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    le_pending<M> pending;
    int turn = 0;
    __syncthreads();
#pragma unroll 1
    for (N first = 0; first < count; first += (N)ROOM * STEP) {
        const N left = (count - first - 1) / STEP + 1;
        const int steps = left < ROOM ? (int)left : ROOM;
#pragma unroll 1
        for (int step = warp; step < steps; step += warps) {
            const M t = le_warp_total<M, LINES, U, W, N>(first + (N)step * STEP, count, terms, term);
            if ((threadIdx.x & 31) == 0)
                room.at[turn][step] = t;
        }
        __syncthreads();
        const M *at = room.at[turn];
        pending.add(le_warp_lines<M, ROOM / 32, ROOM / 32, 1, int>(0, steps, [=](int k) { return at[k]; }));
        turn = (turn + 1) % room.TURNS;
    }
    return pending.total();
}
//: le_grid_parts le_warp_turns
// Of 32 lines of each of a block's warps, from `first` on: they take turns at U lines, so that what they read at once lies
// side by side. All lanes of a group of U have its total; the groups' place is that of warps' turns, the first turns before.
template <class M, int U, int W, class N, class Terms> __device__ inline M le_warp_turns(N first, const Terms &terms) {
    M kept = M::none();
    N at = first + (N)threadIdx.x / 32 * (U * 32 * W) + (N)(threadIdx.x & 31) * W;
#pragma unroll 1
    for (int line = 0; line < 32; line += U, at += (N)blockDim.x * (U * W)) {
        M t[U];
#pragma unroll
        for (int k = 0; k < U; k++)
            t[k] = terms(at + (N)k * 32 * W);
        kept = le_warp_keep<M, U>(kept, t, line);
    }
#pragma unroll
    for (int d = 1; d < U; d *= 2)
        kept = kept.join(kept.across(d));
    return kept;
}
// The total of each step of a block, of which there are `steps`; gridDim.x blocks share them.
template <class M, int LINES, int U, int W, class N, class Terms, class Term>
__device__ inline void le_grid_parts(N count, int steps, const Terms &terms, const Term &term, M *parts,
                                     le_room<M, 256> &room) {
    enum { STEP = LINES * 32 * W, TURNS = LINES == 32 && U > 1 ? 32 / U : 1 };
    const int lane = (int)(threadIdx.x & 31), warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    int turn = 0;
#pragma unroll 1
    for (int step = (int)blockIdx.x; step < steps; step += (int)gridDim.x) {
        const N first = (N)step * warps * STEP;
        const bool turns = TURNS > 1 && first + (N)warps * STEP <= count;
        M *const at = room.at[turn];
        if (turns) {
            const M t = le_warp_turns<M, U, W, N>(first, terms);
            if (lane % U == 0)
                at[lane / U * warps + warp] = t;
        } else {
            const M t = le_warp_total<M, LINES, U, W, N>(first + (N)warp * STEP, count, terms, term);
            if (lane == 0)
                at[warp] = t;
        }
        __syncthreads();
        if (warp == 0) {
            const M total = le_warp_lines<M, 8, 2, 1, int>(0, turns ? TURNS * warps : warps, [=](int k) { return at[k]; });
            if (lane == 0)
                parts[step] = total;
        }
        turn ^= 1;
    }
}
//: le_is_last
// Whether this block is the last of so many to come here, which then sees what all have written. arrived: 0 at first, and
// again when the last has come.
__device__ inline bool le_is_last(unsigned *arrived, unsigned blocks) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(arrived, blocks - 1) == blocks - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}
//: le_thread_total
// A term that has no quick way.
template <class Term> struct le_one_way {
    const Term &term;
    template <class N> __device__ inline auto operator()(N at, bool &) const { return term(at); }
};
// Of the terms from first to end by one thread, at most U << LEVELS, U at a time; both powers of two. Terms are made by
// quick(at, usual), and by term(at) where those turn out not to be usual.
template <class M, int LEVELS, int U, class N, class Term, class Quick>
__device__ inline M le_thread_total(N first, N end, const Term &term, const Quick &quick) {
    enum { NEAR = LEVELS > 10 ? 3 : LEVELS + 1, FAR = LEVELS + 1 - NEAR }; /* many are not all kept in registers */
    M pending[NEAR], far[FAR > 0 ? FAR : 1], all = M::none();
    unsigned count = 0; /* bit b: pending[b], or far[b - NEAR], is the total of U << b terms */
#pragma unroll 1
    for (N at = first; at < end; at += U, count++) {
        M t[U], x;
        if (at + U <= end) {
            bool usual = true;
#pragma unroll
            for (int k = 0; k < U; k++)
                t[k] = quick(at + k, usual);
#pragma unroll 1
            for (int k = 0; !usual && k < U; k++) {
                const M exact = term(at + k);
#pragma unroll
                for (int place = 0; place < U; place++)
                    if (place == k)
                        t[place] = exact;
            }
            x = le_joined<M, U>(t); /* here, too: what is joined takes few registers */
        } else {
#pragma unroll
            for (int k = 0; k < U; k++)
                t[k] = at + k < end ? term(at + k) : M::none();
            x = le_joined<M, U>(t);
        }
        if (!M::ORDERED) {
            all = le_then(all, x);
            continue;
        }
        /* most turns end here: branches, and what is hardly ever done stays out of registers */
        if ((count & 1) == 0) {
            pending[0] = x;
            continue;
        }
        x = pending[0].join(x);
        if ((count & 2) == 0) {
            pending[1] = x;
            continue;
        }
        x = pending[1].join(x);
        if ((count & 4) == 0) {
            pending[2] = x;
            continue;
        }
        x = pending[2].join(x);
        bool carries = true;
#pragma unroll
        for (int b = 3; b < NEAR; b++) {
            if (carries && (count >> b & 1)) {
                x = pending[b].join(x);
            } else if (carries) {
                pending[b] = x;
                carries = false;
            }
        }
        if (FAR > 0 && carries) {
            int b = 0;
            for (; count >> (b + NEAR) & 1; b++)
                x = far[b].join(x);
            far[b] = x;
        }
    }
#pragma unroll
    for (int b = 0; M::ORDERED && b < NEAR; b++)
        if (count >> b & 1)
            all = pending[b].join(all);
#pragma unroll 1
    for (int b = 0; FAR > 0 && M::ORDERED && count >> (b + NEAR) != 0; b++)
        if (count >> (b + NEAR) & 1)
            all = far[b].join(all);
    return all;
}
template <class M, int LEVELS, int U, class N, class Term>
__device__ inline M le_thread_total(N first, N end, const Term &term) {
    return le_thread_total<M, LEVELS, U, N>(first, end, term, le_one_way<Term>{term});
}
//: le_write
template <int W, class T> __device__ inline void le_write(T *to, const T (&from)[W]) {
    typedef typename le_chunk<W * sizeof(T)>::type chunk;
    union { chunk chunks[W * sizeof(T) / sizeof(chunk)]; T at[W]; } all;
#pragma unroll
    for (int k = 0; k < W; k++)
        all.at[k] = from[k];
#pragma unroll
    for (int k = 0; k < (int)(W * sizeof(T) / sizeof(chunk)); k++)
        ((chunk *)to)[k] = all.chunks[k];
}
//: le_read_whole
// 4 neighbours that the kernel does not write before it has used them, from an address that is a multiple of their size.
// The assembly keeps the compiler from splitting the read into elements.
template <int W, class T> __device__ inline void le_read_whole(T (&to)[W], const T *from) {
#if !defined(__LEAT_SIM__)
    if (W * sizeof(T) == 16) {
        union { uint4 chunk; T at[W]; } all;
        asm("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
            : "=r"(all.chunk.x), "=r"(all.chunk.y), "=r"(all.chunk.z), "=r"(all.chunk.w)
            : "l"(__cvta_generic_to_global(from)));
#pragma unroll
        for (int k = 0; k < W; k++)
            to[k] = all.at[k];
        return;
    }
#endif
    le_read<W>(to, from);
}
//: le_leaves_last le_read_through
// What is read once, while about as much is written, is to leave L2 last. Then what is written goes to memory soon and
// in its order, which memory has less trouble with: on an H200 softmax of rows of 65,536 takes 1.005 of a copy's time and
// not 1.033, layer norm 1.07 and not 1.09. Nothing of it is felt later: a kernel that reads 16 MB again and again
// after it is as fast as ever, from its second time on.
#if !defined(__LEAT_SIM__) && __CUDA_ARCH__ >= 900
__device__ inline unsigned long long le_leaves_last() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
#endif
// W neighbours as le_read has them.
template <int W, class T> __device__ inline void le_read_through(T (&to)[W], const T *from) {
#if !defined(__LEAT_SIM__) && __CUDA_ARCH__ >= 900
    enum { BYTES = W * sizeof(T) };
    if (BYTES % 16 == 0) {
        union { uint4 chunks[(BYTES + 15) / 16]; T at[W]; } all;
#pragma unroll
        for (int k = 0; k < (int)BYTES / 16; k++)
            asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                         : "=r"(all.chunks[k].x), "=r"(all.chunks[k].y), "=r"(all.chunks[k].z), "=r"(all.chunks[k].w)
                         : "l"(__cvta_generic_to_global((const char *)from + 16 * k)), "l"(le_leaves_last()) : "memory");
#pragma unroll
        for (int k = 0; k < W; k++)
            to[k] = all.at[k];
        return;
    }
#endif
    le_read<W>(to, from);
}
//: le_fetch le_fetch_near le_fetched
// W neighbours to shared memory, by way of the multiprocessor's own cache, where others may find them.
template <int W, class T> __device__ inline void le_fetch_near(T *to, const T *from) {
    enum { BYTES = W * sizeof(T) };
#if !defined(__LEAT_SIM__) && __CUDA_ARCH__ >= 800
    if (BYTES == 4 || BYTES == 8 || BYTES == 16) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
                     "l"(__cvta_generic_to_global(from)), "n"(BYTES == 16 ? 16 : BYTES == 8 ? 8 : 4) : "memory");
        return;
    }
#endif
    T x[W];
    le_read<W>(x, from);
    le_write<W>(to, x);
}
// Copies W neighbours to shared memory without registers. The copy is complete after le_fetched. There is no cache policy: it
// would make softmax of rows of 65,536 1 % faster, but ptxas of CUDA 13.0 sometimes emits LDGSTS [R5+UR0], desc[UR1] without
// setting UR0 and UR1, which is an illegal instruction.
template <int W, class T> __device__ inline void le_fetch(T *to, const T *from) {
#if !defined(__LEAT_SIM__) && __CUDA_ARCH__ >= 800
    enum { BYTES = W * sizeof(T) };
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if (BYTES % 16 == 0) {
#pragma unroll
        for (int k = 0; k < (int)BYTES / 16; k++) {
            const unsigned to_16 = at + 16 * k;
            const unsigned long long from_16 = __cvta_generic_to_global((const char *)from + 16 * k);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to_16), "l"(from_16) : "memory");
        }
        return;
    }
#endif
    le_fetch_near<W>(to, from);
}
__device__ inline void le_fetched() {
#if !defined(__LEAT_SIM__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
//: le_keep_row
// A block's threads bring `count` neighbours to shared memory, those in whole vectors of 16 bytes as such, wherever the first one
// lies. On both sides they put zeros, which le_read_row may read. Gives the first one's address: all are there once le_fetched has
// been called and the threads have met.
template <class T> __device__ inline T *le_keep_row(uint4 *room, const T *from, int count) {
    enum { W = 16 / sizeof(T) };
    const int before = (int)((unsigned long long)from % 16 / sizeof(T)), first = (W - before) % W;
    const int last = first + (count - first) / W * W; /* the whole vectors' end */
    T *const row = (T *)room + before;
#pragma unroll 4
    for (int at = first + (int)threadIdx.x * W; at < last; at += (int)blockDim.x * W)
        le_fetch<W>(row + at, from + at);
#pragma unroll 1
    for (int k = (int)threadIdx.x; k < 3 * W; k += (int)blockDim.x) {
        const int at = k < W ? k - before : last + k - W;
        if (k >= W || at < first)
            row[at] = at >= 0 && at < count ? from[at] : (T)0;
    }
    return row;
}
//: le_read_row
// W neighbours of a row that le_keep_row has brought to shared memory. Those of 16 bytes are cut out of the two vectors that
// contain them.
template <int W, class T> __device__ inline void le_read_row(T (&to)[W], const T *from) {
    if (W * sizeof(T) != 16) {
#pragma unroll
        for (int k = 0; k < W; k++)
            to[k] = from[k];
        return;
    }
    const unsigned before = (unsigned)(unsigned long long)from % 16;
    const uint4 *const at = (const uint4 *)((const char *)from - before);
    const uint4 a = at[0], b = at[1];
    unsigned word[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    union { unsigned word[4]; T at[16 / sizeof(T)]; } all;
#pragma unroll
    for (int k = 0; k < 6; k++)
        word[k] = before & 8 ? word[k + 2] : word[k];
#pragma unroll
    for (int k = 0; k < 5 && sizeof(T) < 8; k++)
        word[k] = before & 4 ? word[k + 1] : word[k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        all.word[k] = sizeof(T) < 4 ? (unsigned)(((unsigned long long)word[k + 1] << 32 | word[k]) >> before % 4 * 8)
                                    : word[k];
#pragma unroll
    for (int k = 0; k < W; k++)
        to[k] = all.at[k % (16 / sizeof(T))];
}
//: le_chain_chunk le_one_way_on
// Sums with reuse (NUMERICS, rule 3b): chunks of 32 terms, each added in order; units of 32 chunks' totals, added in order;
// and the tree of units. term(at, slot, chunk): the chunk with that term added; slot: where shared memory has what it reads, if
// that was brought there. U terms, a power of two, are read at once.
template <class Term> struct le_one_way_on {
    const Term &term;
    template <class N, class M> __device__ inline M operator()(N at, int slot, M chunk, bool &) const { return term(at, slot, chunk); }
};
template <class M, int U, class N, class Term, class Quick>
__device__ inline M le_chain_chunk(N at, N end, int slot, const Term &term, const Quick &quick) {
    M chunk = M::none();
    if (at + 32 > end) {
#pragma unroll 1
        for (; at < end; at++, slot++)
            chunk = term(at, slot, chunk);
        return chunk;
    }
    at &= ~(N)31; /* a multiple of 32, as compilers now see: terms of one vector read it once */
    bool usual = true;
#pragma unroll 1
    for (int first = 0; first < 32; first += U)
#pragma unroll
        for (int k = 0; k < U; k++)
            chunk = quick(at + (first + k), slot + first + k, chunk, usual);
    if (!usual) {
        chunk = M::none();
#pragma unroll 1
        for (int k = 0; k < 32; k++)
            chunk = term(at + k, slot + k, chunk);
    }
    return chunk;
}
//: le_chain_total le_chain_unit
// Of the terms from first, a multiple of 1,024, to end by one thread: at most 1,024 << LEVELS.
template <class M, int U, class N, class Term, class Quick>
__device__ inline M le_chain_unit(N at, N end, const Term &term, const Quick &quick) {
    M unit = M::none();
#pragma unroll 1
    for (int chunk = 0; chunk < 32 && at < end; chunk++, at += 32)
        unit = unit.join(le_chain_chunk<M, U, N>(at, end, 0, term, quick));
    return unit;
}
template <class M, int LEVELS, int U, class N, class Term, class Quick>
__device__ inline M le_chain_total(N first, N end, const Term &term, const Quick &quick) {
    if (LEVELS == 0)
        return le_chain_unit<M, U, N>(first, end, term, quick);
    const N units = end > first ? (end - first - 1) / 1024 + 1 : 0;
    return le_thread_total<M, LEVELS, 1, N>(0, units, [&](N unit) {
        const N at = first + unit * 1024;
        return le_chain_unit<M, U, N>(at, at + 1024 < end ? at + 1024 : end, term, quick);
    });
}
template <class M, int LEVELS, int U, class N, class Term>
__device__ inline M le_chain_total(N first, N end, const Term &term) {
    return le_chain_total<M, LEVELS, U, N>(first, end, term, le_one_way_on<Term>{term});
}
//: le_chain_parts
// Of the terms from first, a multiple of 1,024, to end by all threads of a block, in each of them. Neighbours have
// neighbouring columns, and PARTS of them share one: they take turns at the chunks of a unit, and the first one adds up the
// chunks' totals, in order. Its threads meet; room: of this call alone, for the chunks of a unit of all columns.
template <class M, int LEVELS, int PARTS, int U, class N, int ROOM, class Term, class Quick>
__device__ inline M le_chain_parts(N first, N end, M (&room)[ROOM], const Term &term, const Quick &quick) {
    enum { COLUMNS = ROOM / 32 };
    const int column = (int)threadIdx.x % COLUMNS, part = (int)threadIdx.x / COLUMNS;
    const auto add_unit = [&](N unit) {
        const N at = first + unit * 1024;
        M total = M::none();
#pragma unroll 1
        for (int chunk = part; chunk < 32; chunk += PARTS) {
            const M t = le_chain_chunk<M, U, N>(at + chunk * 32, end, 0, term, quick);
            room[chunk * COLUMNS + column] = t;
        }
        __syncthreads();
        if (part == 0) {
#pragma unroll 8
            for (int chunk = 0; chunk < 32; chunk++)
                total = total.join(room[chunk * COLUMNS + column]);
        }
        __syncthreads();
        return total;
    };
    const N units = end > first ? (end - first - 1) / 1024 + 1 : 0;
    const M total = LEVELS == 0 ? add_unit(0) : le_thread_total<M, LEVELS, 1, N>(0, units, add_unit);
    if (part == 0)
        room[column] = total;
    __syncthreads();
    return room[column];
}
template <class M, int LEVELS, int PARTS, int U, class N, int ROOM, class Term>
__device__ inline M le_chain_parts(N first, N end, M (&room)[ROOM], const Term &term) {
    return le_chain_parts<M, LEVELS, PARTS, U, N>(first, end, room, term, le_one_way_on<Term>{term});
}
//: le_chain_warp le_chain_warp_total le_no_fetch le_fetching
// Of one unit by a warp, in all its lanes: each takes a chunk. fetch(at, slot) brings what W terms from `at` read to the warp's
// slots in shared memory, so that neighbours read memory side by side: the slot of term k of chunk c is (32 + W) * c + k, so
// that lanes which read vectors of W of their chunks meet no bank conflict. More than one W divides the number of terms.
struct le_no_fetch { enum { WIDTH = 1 }; };
template <int W, class Fetch> struct le_fetches {
    enum { WIDTH = W };
    const Fetch &fetch;
};
template <int W, class Fetch> __device__ inline le_fetches<W, Fetch> le_fetching(const Fetch &fetch) { return {fetch}; }
template <class N> __device__ inline void le_chain_fetch(N, N, const le_no_fetch &) {}
template <class N, int W, class Fetch>
__device__ inline void le_chain_fetch(N first, N count, const le_fetches<W, Fetch> &by) {
    const int lane = (int)threadIdx.x & 31, chunk = lane / (32 / W), place = chunk * 32 + lane % (32 / W) * W;
    const int slot = place + chunk * W;
    __syncwarp();
    if (first + 1024 <= count) {
#pragma unroll 8
        for (int step = 0; step < 32 / W; step++)
            by.fetch(first + (N)(step * (32 * W) + place), step * (32 + W) * W + slot);
    } else {
#pragma unroll 1
        for (int step = 0; first + (N)(step * (32 * W) + place) < count; step++)
            by.fetch(first + (N)(step * (32 * W) + place), step * (32 + W) * W + slot);
    }
    le_fetched();
    __syncwarp();
}
template <class M, int U, class N, class Term, class Fetch>
__device__ inline M le_chain_warp(N first, N count, const Term &term, const Fetch &fetch) {
    const N at = first + (N)(threadIdx.x & 31) * 32;
    le_chain_fetch<N>(first, count, fetch);
    const int slot = ((int)threadIdx.x & 31) * (32 + Fetch::WIDTH);
    const M chunk = le_chain_chunk<M, U, N>(at, count, slot, term, le_one_way_on<Term>{term});
    M unit = M::none();
#pragma unroll 4
    for (int lane = 0; lane < 32; lane++)
        unit = unit.join(chunk.from_lane(lane));
    return unit;
}
template <class M, int U, class N, class Term, class Fetch>
__device__ inline M le_chain_warp_total(N count, const Term &term, const Fetch &fetch) {
    le_pending<M> pending;
#pragma unroll 1
    for (N first = 0; first < count; first += 1024)
        pending.add(le_chain_warp<M, U, N>(first, count, term, fetch));
    return pending.total();
}
//: le_chain_terms le_chained
// Terms for le_block_total and le_grid_parts, whose warps then take units.
template <int U, class Term, class Fetch> struct le_chained {
    const Term &term;
    const Fetch &fetch;
};
template <int U, class Term, class Fetch>
__device__ inline le_chained<U, Term, Fetch> le_chain_terms(const Term &term, const Fetch &fetch) {
    return {term, fetch};
}
template <class M, int U, int W, class N, int CHAIN_U, class Term, class Fetch>
__device__ inline M le_warp_turns(N, const le_chained<CHAIN_U, Term, Fetch> &) { return M::none(); } // never called
template <class M, int LINES, int U, int W, class N, int CHAIN_U, class Term, class Fetch>
__device__ inline M le_warp_total(N first, N count, const le_chained<CHAIN_U, Term, Fetch> &terms,
                                  const le_chained<CHAIN_U, Term, Fetch> &) {
    return le_chain_warp<M, CHAIN_U, N>(first, count, terms.term, terms.fetch);
}
//: le_kept
// W elements of each of a thread's lines: of the first NEAR lines in registers, of the others in shared memory, where
// `far` is the thread's place for the first of these: a warp's lie one behind the other, 32 * W elements each.
template <class T, int W, int NEAR> struct le_kept {
    T near[NEAR * W], *far;
    // Sets `far`. `room` is the block's shared memory; its first bytes * blockDim.x bytes are in use.
    __device__ inline void keep_far(uint4 *room, long long bytes, int lines) {
        far = (T *)((char *)room + bytes * blockDim.x) + (threadIdx.x / 32 * (32 * lines) + threadIdx.x % 32) * W;
    }
    __device__ inline void fetch(int line, const T *from) {
        if (line >= NEAR) {
            le_fetch<W>(far + (line - NEAR) * (32 * W), from);
            return;
        }
        T x[W];
        le_read_through<W>(x, from);
        put(line, x);
    }
    __device__ inline void put(int line, const T (&x)[W]) {
        if (line >= NEAR) {
            le_write<W>(far + (line - NEAR) * (32 * W), x);
            return;
        }
#pragma unroll
        for (int k = 0; k < W; k++)
            near[line * W + k] = x[k];
    }
    __device__ inline void get(int line, T (&x)[W]) const {
        if (line >= NEAR) {
            get_far(line, x);
            return;
        }
#pragma unroll
        for (int k = 0; k < W; k++)
            x[k] = near[line * W + k];
    }
    // The same of a line that is known when the program runs: of one in shared memory, or of any.
    __device__ inline void fetch_far(int line, const T *from) { le_fetch<W>(far + (line - NEAR) * (32 * W), from); }
    __device__ inline void put_far(int line, const T (&x)[W]) { le_write<W>(far + (line - NEAR) * (32 * W), x); }
    __device__ inline void get_far(int line, T (&x)[W]) const {
        le_read<W>(x, far + (line - NEAR) * (32 * W));
    }
    __device__ inline void get_any(int line, T (&x)[W]) const {
        if (line >= NEAR)
            get_far(line, x);
#pragma unroll
        for (int k = 0; k < NEAR * W; k++)
            if (k / W == line)
                x[k % W] = near[k];
    }
};
//: le_turn
// Each element goes to the place before its own, the first one to the last.
template <int W, class T> __device__ inline void le_turn(T (&x)[W]) {
    const T first = x[0];
#pragma unroll
    for (int k = 1; k < W; k++)
        x[k - 1] = x[k];
    x[W - 1] = first;
}
//: le_row_total
// Of a warp's LINES lines, in all its lanes; U lines at once, both powers of two. line(k): what the lane has of line k.
template <class M, int LINES, int U, class Line> __device__ inline M le_row_total(const Line &line) {
    if (LINES == 1)
        return le_warp_tree(line(0));
    M kept = M::none();
#pragma unroll
    for (int first = 0; first < LINES; first += U) {
        M t[U];
#pragma unroll
        for (int k = 0; k < U; k++)
            t[k] = line(first + k);
        kept = le_warp_keep<M, U>(kept, t, first);
    }
    return le_warp_tree(kept);
}
//: le_block_join
// Of all warps' totals, in all threads. Its threads meet; room: of this call alone.
template <class M> __device__ inline M le_block_join(M t, M (&room)[32]) {
    const int lane = (int)threadIdx.x & 31;
    if (lane == 0)
        room[threadIdx.x / 32] = t;
    __syncthreads();
    return le_warp_tree(lane < (int)(blockDim.x / 32) ? room[lane] : M::none());
}
//: le_cluster_join
// The same over BLOCKS blocks of a cluster, which have all begun. room: for the totals of all their warps.
template <int BLOCKS, class M, int N> __device__ inline M le_cluster_join(M t, M (&room)[N]) {
    const int lane = (int)threadIdx.x & 31, warps = (int)blockDim.x / 32;
    M *const own = &room[(int)blockIdx.x % BLOCKS * warps + (int)threadIdx.x / 32];
    if (lane < BLOCKS)
        *(M *)__cluster_map_shared_rank(own, (unsigned)lane) = t;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    M all[N / 32];
#pragma unroll
    for (int k = 0; k < N / 32; k++)
        all[k] = le_warp_tree(32 * k + lane < BLOCKS * warps ? room[32 * k + lane] : M::none());
    return le_joined<M, N / 32>(all);
}
//: le_strip_total
// Of a thread's own terms, which follow each other: LINES of them, or fewer if it has no more than `left`. near(k): the total
// of term k, of the first NEAR; far(k): of one of the others. Terms behind the end are none; U at once; all powers of two.
// WHOLE: it has all of them or none.
template <class M, int LINES, int NEAR, int U, bool WHOLE, class Near, class Far>
__device__ inline M le_strip_total(int left, const Near &near, const Far &far) {
    enum { STEPS = LINES / U, LEVELS = STEPS > 32 ? 6 : STEPS > 16 ? 5 : STEPS > 8 ? 4 : STEPS > 4 ? 3 : 2 };
    if (left <= 0)
        return M::none();
    M t[NEAR];
#pragma unroll
    for (int k = 0; k < NEAR; k++) {
        const M x = near(k);
        t[k] = WHOLE || k < left ? x : M::none();
    }
    M all = le_joined<M, NEAR>(t);
    if (LINES == NEAR)
        return all;
    /* bit b of count: pending[b] is the total of U << b terms; those of the first NEAR are joined */
    M pending[LEVELS + 1];
#pragma unroll
    for (int b = 0; b <= LEVELS; b++)
        if (NEAR / U >> b & 1)
            pending[b] = all;
    unsigned count = NEAR / U;
#pragma unroll 1
    for (int first = NEAR; first < LINES && (WHOLE || first < left); first += U, count++) {
        M some[U];
#pragma unroll
        for (int k = 0; k < U; k++) {
            const M x = far(first + k);
            some[k] = WHOLE || first + k < left ? x : M::none();
        }
        M x = le_joined<M, U>(some);
        if (!M::ORDERED) {
            all = all.join(x);
            continue;
        }
        bool carries = true;
#pragma unroll
        for (int b = 0; b <= LEVELS; b++) {
            if (carries && (count >> b & 1)) {
                x = pending[b].join(x);
            } else if (carries) {
                pending[b] = x;
                carries = false;
            }
        }
    }
    if (!M::ORDERED)
        return all;
    all = M::none();
#pragma unroll
    for (int b = 0; b <= LEVELS; b++)
        if (count >> b & 1)
            all = pending[b].join(all);
    return all;
}
//: le_strip_join
// Of the totals of all threads of the same columns, in each of them; STRIP neighbouring threads of a block's THREADS have
// columns of their own, all powers of two. Its threads meet; room: of this call alone.
template <int STRIP, int THREADS, class M, int N> __device__ inline M le_strip_join(M t, M (&room)[N]) {
    enum {
        OF_WARP = STRIP < 32 ? 32 / STRIP : 1, /* threads of a warp that share a column */
        GROUPS = THREADS / STRIP / OF_WARP,    /* that each leave a total of it */
        RUN = GROUPS > OF_WARP ? GROUPS / OF_WARP : 1
    };
    const int column = (int)threadIdx.x % STRIP;
#pragma unroll
    for (int d = STRIP; d < 32; d *= 2)
        t = t.join(t.across(d));
    if (GROUPS == 1)
        return t;
    if (STRIP >= 32 || (int)threadIdx.x % 32 < STRIP)
        room[(int)threadIdx.x / (STRIP * OF_WARP) * STRIP + column] = t;
    __syncthreads();
    const int group = (int)threadIdx.x % 32 / STRIP * RUN;
    M some[RUN];
#pragma unroll
    for (int k = 0; k < RUN; k++)
        some[k] = group + k < GROUPS ? room[(group + k) * STRIP + column] : M::none();
    t = le_joined<M, RUN>(some);
#pragma unroll
    for (int d = STRIP; d < 32; d *= 2)
        t = t.join(t.across(d));
    return t;
}
//: le_strip_cluster_join
// The same of blocks' totals, which all their threads have, over BLOCKS blocks of a cluster, which have all begun.
template <int STRIP, int BLOCKS, class M, int N> __device__ inline M le_strip_cluster_join(M t, M (&room)[N]) {
    const int column = (int)threadIdx.x % STRIP, own = (int)blockIdx.x % BLOCKS;
    const int parts = (int)blockDim.x / STRIP;
    for (int block = (int)threadIdx.x / STRIP; block < BLOCKS; block += parts)
        *(M *)__cluster_map_shared_rank(&room[own * STRIP + column], (unsigned)block) = t;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    M some[BLOCKS];
#pragma unroll
    for (int k = 0; k < BLOCKS; k++)
        some[k] = room[k * STRIP + column];
    return le_joined<M, BLOCKS>(some);
}
