//: le_scan_sixteen
// All prefixes of a group, in place. The order is that of device/cpu/kernels/kernels_scans.c: T(the terms of a group of 16 up
// to this one) after the groups before it in its chunk of 16384, after the chunks before it.
template <class M> __device__ inline void le_scan_sixteen(M (&t)[16]) {
#pragma unroll
    for (int h = 1; h < 16; h *= 2) {
#pragma unroll
        for (int k = 0; k < 16; k++)
            if (k & h)
                t[k] = t[(k & -2 * h) + h - 1].join(t[k]);
    }
}
//: le_scan_result
// What comes before a group and the group's own prefix; before: chunks; inside: groups.
template <class M> __device__ inline M le_scan_result(M before, M inside, M t) {
    return M::ORDERED ? before.join(inside.join(t)) : inside.join(t);
}
//: le_scan_slot le_scan_put le_scan_get
// Shared memory for terms in rows of 16 slots, a group each, of S bytes a slot. The 16-byte pieces of a row are mixed
// so that neighbouring rows have them in different banks.
template <int S, class T> __device__ inline T *le_scan_slot(uint4 *room, int k) {
    const int row = k / 16, byte = k % 16 * (int)sizeof(T), mix = row / (8 / S) & (S - 1);
    return (T *)((char *)(room + row * S + (byte / 16 ^ mix)) + byte % 16);
}
template <int S, int W, class T> __device__ inline void le_scan_put(uint4 *room, int k, const T (&x)[W]) {
    enum { PIECE = W * sizeof(T) > 16 ? 16 / sizeof(T) : W };
#pragma unroll
    for (int q = 0; q < W; q += PIECE) {
        T piece[PIECE];
#pragma unroll
        for (int e = 0; e < PIECE; e++)
            piece[e] = x[q + e];
        le_write<PIECE>(le_scan_slot<S, T>(room, k + q), piece);
    }
}
template <int S, int W, class T> __device__ inline void le_scan_get(T (&x)[W], uint4 *room, int k) {
    enum { PIECE = W * sizeof(T) > 16 ? 16 / sizeof(T) : W };
#pragma unroll
    for (int q = 0; q < W; q += PIECE) {
        T piece[PIECE];
        le_read<PIECE>(piece, le_scan_slot<S, T>(room, k + q));
#pragma unroll
        for (int e = 0; e < PIECE; e++)
            x[q + e] = piece[e];
    }
}
//: le_scan_fetch
// A tile's terms to their slots; it begins at term `first` of the row. Each warp takes every warps'th 512 of them, and
// no others' later on. some(at, to): W terms; one(at): one. U are on their way at once.
template <class T, int S, int W, int U, int GROUPS, class N, class Some, class One>
__device__ inline void le_scan_fetch(uint4 *room, N first, N count, const Some &some, const One &one) {
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    if (first + GROUPS * 16 <= count) {
#pragma unroll 1
        for (int line = 0; line < GROUPS / (2 * W) / warps; line += U) {
            T x[U][W];
            const int own = lane * W;
#pragma unroll
            for (int u = 0; u < U; u++) {
                const int k = ((line + u) / (16 / W) * warps + warp) * 512 + (line + u) % (16 / W) * (32 * W) + own;
                some(first + k, x[u]);
            }
#pragma unroll
            for (int u = 0; u < U; u++) {
                const int k = ((line + u) / (16 / W) * warps + warp) * 512 + (line + u) % (16 / W) * (32 * W) + own;
                le_scan_put<S>(room, k, x[u]);
            }
        }
        return;
    }
    const int left = (int)(count - first);
#pragma unroll 1
    for (int line = 0; line < GROUPS / 2 / warps; line += U) {
        T x[U];
#pragma unroll
        for (int u = 0; u < U; u++) {
            const int k = ((line + u) / 16 * warps + warp) * 512 + (line + u) % 16 * 32 + lane;
            if (k < left)
                x[u] = one(first + k);
        }
#pragma unroll
        for (int u = 0; u < U; u++) {
            const int k = ((line + u) / 16 * warps + warp) * 512 + (line + u) % 16 * 32 + lane;
            if (k < left)
                *le_scan_slot<S, T>(room, k) = x[u];
        }
    }
}
//: le_scan_give
// A warp's 512 results, from number `own` of the tile on, from their slots to where they belong; put(at, from): V of
// them; put_one(at, x): one.
template <class R, int S, int V, class N, class Put, class PutOne>
__device__ inline void le_scan_give(uint4 *room, int own, N first, N count, const Put &put, const PutOne &put_one) {
    const int lane = (int)threadIdx.x & 31;
    if (first + own + 512 <= count) {
#pragma unroll 4
        for (int line = 0; line < 16 / V; line++) {
            R x[V];
            le_scan_get<S>(x, room, own + (line * 32 + lane) * V);
            put(first + own + (line * 32 + lane) * V, x);
        }
        return;
    }
#pragma unroll 1
    for (int k = own + lane; k < own + 512 && first + k < count; k += 32)
        put_one(first + k, *le_scan_slot<S, R>(room, k));
}
//: le_scan_group
// The terms of a group from their slots; of(x, at): a term's total.
template <class M, class T, int S, class N, class Of>
__device__ inline void le_scan_group(M (&t)[16], uint4 *room, int group, N first, N count, const Of &of) {
    const N at = first + group * 16;
    if (at + 16 <= count) {
        T x[16];
        le_scan_get<S>(x, room, group * 16);
#pragma unroll
        for (int k = 0; k < 16; k++)
            t[k] = of(x[k], at + k);
        return;
    }
#pragma unroll
    for (int k = 0; k < 16; k++)
        t[k] = at + k < count ? of(*le_scan_slot<S, T>(room, group * 16 + k), at + k) : M::none();
}
//: le_scan_warp
// The total of all lanes up to this one.
template <class M> __device__ inline M le_scan_warp(M t) {
    const int lane = (int)threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const M before = t.from_lane((lane - d) & 31);
        t = lane >= d ? before.join(t) : t;
    }
    return t;
}
//: le_scan_room
// Of a block whose tiles have so many groups: what comes before each, first in its warp alone if the order is free.
template <class M, int GROUPS> struct __align__(16) le_scan_room { M inside[GROUPS], lines[2][32], total, before; };
//: le_scan_chain
// In place of each group's total that of all before it, from `run` on, one after the other; gives that of all. n is a
// multiple of 16.
template <class M> __device__ inline M le_scan_chain(M *inside, int n, M run) {
    M next[16];
    le_read<16>(next, inside);
#pragma unroll 1
    for (int group = 0; group < n; group += 16) {
        M now[16];
#pragma unroll
        for (int k = 0; k < 16; k++)
            now[k] = next[k];
        if (group + 16 < n)
            le_read<16>(next, inside + group + 16);
#pragma unroll
        for (int k = 0; k < 16; k++) {
            const M before = run;
            run = run.join(now[k]);
            now[k] = before;
        }
        le_write<16>(inside + group, now);
    }
    return run;
}
//: le_scan_totals
// Reads a tile and leaves its groups' totals in the room. Threads of a warp meet.
template <class M, class T, int S, int W, int U, int GROUPS, class N, class Some, class One, class Of>
__device__ inline void le_scan_totals(uint4 *tile, le_scan_room<M, GROUPS> &room, int turn, N first, N count,
                                      const Some &some, const One &one, const Of &of) {
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    le_scan_fetch<T, S, W, U, GROUPS>(tile, first, count, some, one);
    __syncwarp();
#pragma unroll 1
    for (int line = warp; line < GROUPS / 32; line += warps) {
        M t[16];
        le_scan_group<M, T, S>(t, tile, line * 32 + lane, first, count, of);
        const M own = le_joined<M, 16, false>(t);
        if (M::ORDERED) {
            room.inside[line * 32 + lane] = own;
            continue;
        }
        const M all = le_scan_warp(own), before = all.from_lane((lane - 1) & 31);
        room.inside[line * 32 + lane] = lane == 0 ? M::none() : before;
        if (lane == 31)
            room.lines[turn][line] = all;
    }
}
//: le_scan_join
// Puts the groups' totals together: gives that of the tile, with `inside` before it; lines: in lane k that of the lines
// up to k, if the order is free. The block's threads meet.
template <class M, int GROUPS, class N>
__device__ inline M le_scan_join(le_scan_room<M, GROUPS> &room, int turn, N left, M inside, M &lines) {
    const int lane = (int)threadIdx.x & 31;
    __syncthreads();
    if (M::ORDERED) {
        if (threadIdx.x == 0) {
            const int groups = left < GROUPS * 16 ? (int)(left + 255) / 256 * 16 : GROUPS;
            const M all = le_scan_chain(room.inside, groups, inside);
            room.total = all;
        }
        __syncthreads();
        return room.total;
    }
    lines = le_scan_warp(lane < GROUPS / 32 ? room.lines[turn][lane] : M::none());
    return inside.join(lines.from_lane(31));
}
//: le_scan_finish
// Writes a tile's results.
template <class M, class T, class R, int S, int V, int GROUPS, class N, class Of, class Put, class PutOne>
__device__ inline void le_scan_finish(uint4 *tile, const le_scan_room<M, GROUPS> &room, N first, N count, M before,
                                      M inside, M lines, const Of &of, const Put &put, const PutOne &put_one) {
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
#pragma unroll 1
    for (int line = warp; line < GROUPS / 32; line += warps) {
        M t[16], own = room.inside[line * 32 + lane];
        R x[16];
        if (!M::ORDERED) {
            const M earlier = lines.from_lane((line - 1) & 31);
            own = before.join(inside).join(line == 0 ? M::none() : earlier).join(own);
        }
        le_scan_group<M, T, S>(t, tile, line * 32 + lane, first, count, of);
        le_scan_sixteen(t);
#pragma unroll
        for (int k = 0; k < 16; k++)
            x[k] = le_scan_result(before, own, t[k]).value(false);
        le_scan_put<S>(tile, (line * 32 + lane) * 16, x);
        __syncwarp();
        le_scan_give<R, S, V>(tile, line * 512, first, count, put, put_one);
    }
}
//: le_scan_row
// A row by a block, tile after tile.
template <class M, class T, class R, int S, int W, int U, int V, int GROUPS, class N, class Some, class One, class Of,
          class Put, class PutOne>
__device__ inline void le_scan_row(uint4 *tile, le_scan_room<M, GROUPS> &room, N count, M before, const Some &some,
                                   const One &one, const Of &of, const Put &put, const PutOne &put_one) {
    M inside = M::none(), lines = M::none();
    int turn = 0;
#pragma unroll 1
    for (N first = 0; first < count; first += GROUPS * 16, turn ^= 1) {
        __syncwarp();
        le_scan_totals<M, T, S, W, U>(tile, room, turn, first, count, some, one, of);
        const M all = le_scan_join(room, turn, count - first, inside, lines);
        le_scan_finish<M, T, R, S, V>(tile, room, first, count, before, inside, lines, of, put, put_one);
        inside = all;
        if (M::ORDERED && (first + GROUPS * 16) % 16384 == 0) {
            before = before.join(inside);
            inside = M::none();
        }
    }
}
//: le_scan_few
// Rows of up to 16 * LANES terms by LANES lanes each; a count that W does not divide has W 1, and so for V.
template <class M, class T, class R, int S, int W, int U, int V, int LANES, class Some, class One, class Of, class Put,
          class PutOne>
__device__ inline void le_scan_few(uint4 *tile, int count, M before, const Some &some, const One &, const Of &of,
                                   const Put &put, const PutOne &) {
    const int lane = (int)threadIdx.x & 31, own = lane % LANES, slots = (lane - own) * 16;
#pragma unroll 1
    for (int line = 0; line < 16 / W; line += U) {
        T x[U][W];
#pragma unroll
        for (int u = 0; u < U; u++)
            if (((line + u) * LANES + own) * W < count)
                some(((line + u) * LANES + own) * W, x[u]);
#pragma unroll
        for (int u = 0; u < U; u++)
            if (((line + u) * LANES + own) * W < count)
                le_scan_put<S>(tile, slots + ((line + u) * LANES + own) * W, x[u]);
    }
    __syncwarp();
    M t[16], inside = M::none();
    R x[16];
    le_scan_group<M, T, S>(t, tile, lane, -slots, count, of);
    const M total = le_joined<M, 16, false>(t);
#pragma unroll
    for (int k = 0; k < LANES - 1; k++) {
        const M other = total.from_lane(lane - own + k);
        inside = k < own ? inside.join(other) : inside;
    }
    if (!M::ORDERED)
        inside = before.join(inside);
    le_scan_sixteen(t);
#pragma unroll
    for (int k = 0; k < 16; k++)
        x[k] = le_scan_result(before, inside, t[k]).value(false);
    le_scan_put<S>(tile, lane * 16, x);
    __syncwarp();
#pragma unroll 4
    for (int line = 0; line < 16 / V; line++)
        if ((line * LANES + own) * V < count) {
            R some_of[V];
            le_scan_get<S>(some_of, tile, slots + (line * LANES + own) * V);
            put((line * LANES + own) * V, some_of);
        }
}
//: le_scan_columns
// A row by each lane of WARPS warps, which take turns at groups. A lane that is not `active` writes nothing; U: 16, or
// 1 for terms that are dear. totals: of the lane, by turn and warp.
template <class M, int WARPS> struct le_scan_lanes { M at[2][WARPS][32]; };
template <class M, int U, int WARPS, class N, class One, class Of, class PutOne>
__device__ inline void le_scan_columns(le_scan_lanes<M, WARPS> &totals, int warp, bool active, N count, M before,
                                       const One &one, const Of &of, const PutOne &put_one) {
    const int lane = (int)threadIdx.x & 31;
    M inside = M::none();
    int turn = 0;
#pragma unroll 1
    for (N first = 0; first < count; first += WARPS * 16, turn ^= 1) {
        const N at = first + warp * 16;
        M t[16], own = inside;
        if (U > 1 && at + 16 <= count) {
#pragma unroll
            for (int k = 0; k < 16; k++)
                t[k] = of(one(at + k), at + k);
        } else {
#pragma unroll U
            for (int k = 0; k < 16; k++)
                t[k] = at + k < count ? of(one(at + k), at + k) : M::none();
        }
        const M total = le_joined<M, 16, false>(t);
        if (WARPS > 1) {
            totals.at[turn][warp][lane] = total;
            __syncthreads();
#pragma unroll
            for (int w = 0; w < WARPS; w++) {
                own = w == warp ? inside : own;
                inside = inside.join(totals.at[turn][w][lane]);
            }
        } else {
            inside = inside.join(total);
        }
        if (!M::ORDERED)
            own = before.join(own);
        le_scan_sixteen(t);
#pragma unroll
        for (int k = 0; k < 16; k++)
            if (active && at + k < count)
                put_one(at + k, le_scan_result(before, own, t[k]).value(false));
        if (M::ORDERED && (first + WARPS * 16) % 16384 == 0) {
            before = before.join(inside);
            inside = M::none();
        }
    }
}
//: le_scan_turn
// The block's number among those that have come so far: all with a smaller one are at work, or done. next: 0 at first.
__device__ inline unsigned le_scan_turn(unsigned *next) {
    __shared__ unsigned turn;
    if (threadIdx.x == 0)
        turn = atomicAdd(next, 1u);
    __syncthreads();
    return turn;
}
//: le_scan_words le_scan_tell le_scan_is_told
// A total as words of 32 bits, each told together with a mark that it is there (all zeros at first), so that no order
// of several writes has to be kept.
template <class M> struct le_scan_words {
    enum { COUNT = (sizeof(M) + 3) / 4 };
    union { unsigned at[COUNT]; M total; };
};
template <class M> __device__ inline void le_scan_tell(unsigned long long *to, M total) {
    le_scan_words<M> words;
#pragma unroll
    for (int k = 0; k < le_scan_words<M>::COUNT; k++)
        words.at[k] = 0;
    words.total = total;
#pragma unroll
    for (int k = 0; k < le_scan_words<M>::COUNT; k++)
        ((volatile unsigned long long *)to)[k] = 1ull << 32 | words.at[k];
}
template <class M> __device__ inline bool le_scan_is_told(const unsigned long long *from, M &total) {
    le_scan_words<M> words;
    bool told = true;
#pragma unroll
    for (int k = 0; k < le_scan_words<M>::COUNT; k++) {
        const unsigned long long word = ((const volatile unsigned long long *)from)[k];
        words.at[k] = (unsigned)word;
        told = told && word >> 32 != 0;
    }
    total = words.total;
    return told;
}
//: le_scan_before
// The total of all tiles of the row before this one, by a warp, in all its lanes. Every tile tells its own total and
// then that of all up to it, in `told`, where the row's tile before it is `step` words back. Added from left to right,
// from the last tile on that has told both: whichever that is, the result is the same. seen: of this warp alone.
template <class M> struct le_scan_seen { M at[128]; };
template <class M>
__device__ inline M le_scan_before(const unsigned long long *told, long long tile, long long step,
                                   le_scan_seen<M> &seen) {
    enum { WORDS = le_scan_words<M>::COUNT };
    const int lane = (int)threadIdx.x & 31;
    int last = -1;
    for (int part = 0; last < 0; part++) {
        const int back = part * 32 + lane;
        const unsigned long long *from = told - (back + 1) * step;
        M total = M::none();
        bool all = false, own = back >= tile;
        while (!own) {
            all = le_scan_is_told(from + WORDS, total);
            own = all || (back < 127 && le_scan_is_told(from, total));
        }
        seen.at[back] = total;
        const unsigned has_all = __ballot_sync(0xffffffffu, all);
        if (has_all != 0)
            last = part * 32 + __ffs((int)has_all) - 1;
    }
    __syncwarp();
    M before = seen.at[last];
#pragma unroll 8
    for (int back = last - 1; back >= 0; back--)
        before = before.join(seen.at[back]);
    return before;
}
//: le_scan_tile
// A tile of a row whose tiles are shared by many blocks, which come in the tiles' order. start: what comes before the
// row's first tile.
template <class M, class T, class R, int S, int W, int U, int V, int GROUPS, class N, class Some, class One, class Of,
          class Put, class PutOne>
__device__ inline void le_scan_tile(uint4 *tile, le_scan_room<M, GROUPS> &room, le_scan_seen<M> &seen,
                                    unsigned long long *told, long long number, long long step, N count, M start,
                                    const Some &some, const One &one, const Of &of, const Put &put,
                                    const PutOne &put_one) {
    const N first = (N)number * (GROUPS * 16);
    M lines = M::none();
    le_scan_totals<M, T, S, W, U>(tile, room, 0, first, count, some, one, of);
    const M all = le_scan_join(room, 0, count - first, M::none(), lines);
    if (threadIdx.x < 32) {
        M before = start;
        if (number > 0 && threadIdx.x == 0)
            le_scan_tell(told, all);
        if (number > 0)
            before = le_scan_before(told, number, step, seen);
        if (threadIdx.x == 0) {
            le_scan_tell(told + le_scan_words<M>::COUNT, before.join(all));
            room.before = before;
        }
    }
    __syncthreads();
    le_scan_finish<M, T, R, S, V>(tile, room, first, count, room.before, M::none(), lines, of, put, put_one);
}
