// Reductions whose terms read the same elements for many points. A thread block computes a tile of points: TR x TC threads,
// each with MR x MC points. What a term needs goes through shared memory: NL values of each row, NR of each column, DEPTH
// terms at a time, while the next ones are being read from memory.
//: le_reuse_at
// Where a value is: the sum, part by part, of where its line and its term are.
template <class O, int PARTS> struct alignas(sizeof(O) * (PARTS < 3 ? PARTS : 4)) le_reuse_at { O part[PARTS]; };
//: le_reuse_room
// Vectors of 16 bytes stay aligned, and the terms of a line are in several banks.
template <class F, int LINES> __device__ constexpr int le_reuse_pitch() { return (LINES + 3) / 4 * 4 + (sizeof(F) > 4 ? 2 : 4); }
template <class F, class G, class O, int ROWS, int COLUMNS, int DEPTH, int NL, int NR, int PL, int PR, int TABLE> struct le_reuse_terms {
    alignas(16) F left[2][NL][DEPTH][le_reuse_pitch<F, ROWS>()];
    alignas(16) G right[2][NR][DEPTH][le_reuse_pitch<G, COLUMNS>()];
    le_reuse_at<O, PL> left_at[NL][TABLE ? TABLE : 1]; // of the next TABLE terms
    le_reuse_at<O, PR> right_at[NR][TABLE ? TABLE : 1];
};
// The terms, then totals, of which TURNED are exchanged at a time.
template <class M, int TURNED, class F, class G, class O, int ROWS, int COLUMNS, int DEPTH, int NL, int NR, int PL, int PR, int TABLE>
union alignas(16) le_reuse_room {
    le_reuse_terms<F, G, O, ROWS, COLUMNS, DEPTH, NL, NR, PL, PR, TABLE> terms;
    M turned[TURNED];
};
//: le_reuse_line
// Line m of the M lines of a thread, one of T: 16 bytes of values of type F, so that neighbours read shared memory side by side.
template <class F, int T, int M> __device__ inline int le_reuse_line(int thread, int m) {
    const int most = sizeof(F) > 4 ? 2 : 4, q = M < most ? M : most;
    return m / q * (q * T) + thread * q + m % q;
}
//: le_reuse_thread
// Where in the TR x TC threads this one is. A warp is a tile of four rows if there are as many, and neighbours are of two rows: a half of
// the warp then reads 128 bytes of the columns at once, without conflicts.
template <int TR, int TC> struct le_reuse_thread {
    enum { ROWS = TR < 4 ? TR : 4, COLUMNS = 32 / ROWS };
    int row, column;
    __device__ inline le_reuse_thread() {
        const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
        row = warp / (TC / COLUMNS) * ROWS + (ROWS < 4 ? lane % ROWS : lane % 2 + lane / 16 * 2);
        column = warp % (TC / COLUMNS) * COLUMNS + (ROWS < 4 ? lane / ROWS : lane / 2 % 8);
    }
};
//: le_reuse_turned_row
// After le_reuse_turn, the totals of neighbouring threads are of neighbouring columns: [i][j] is of this row of the tile, and of column
// (j * THREADS + thread) % COLUMNS.
template <class F, int TR, int TC, int MR, int MC> __device__ inline int le_reuse_turned_row(int i, int j) {
    enum { THREADS = TR * TC, COLUMNS = TC * MC, ROWS = THREADS / COLUMNS, PARTS = COLUMNS < THREADS ? 1 : COLUMNS / THREADS };
    return le_reuse_line<F, TR, MR>(COLUMNS > THREADS ? j / PARTS : j * ROWS + (int)(threadIdx.x / COLUMNS), i);
}
//: le_reuse_turn
template <class F, class G, int TR, int TC, int MR, int MC, class M> __device__ inline void le_reuse_turn(M (&totals)[MR][MC], M *room) {
    const le_reuse_thread<TR, TC> at;
#pragma unroll
    for (int i = 0; i < MR; i++) {
        __syncthreads(); // all have used what was there
#pragma unroll
        for (int j = 0; j < MC; j++)
            room[at.row * (TC * MC) + le_reuse_line<G, TC, MC>(at.column, j)] = totals[i][j];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < MC; j++)
            totals[i][j] = room[j * TR * TC + (int)threadIdx.x];
    }
}
//: le_reuse_outside
// Bits from `first` on, one for each of `count` numbers from `least` on: those numbers that x plus them is not in 0 ... extent - 1.
__device__ inline int le_reuse_outside(int x, int extent, int least, int count, int first) {
    const int below = x + least < 0 ? -(x + least) : 0, low = below < count ? below : count;
    const int inside = extent - (x + least), high = inside > count ? count : inside > low ? inside : low;
    return (int)(((1u << count) - (1u << high) + (1u << low) - 1) << first);
}
//: le_reuse_bit
__device__ inline int le_reuse_bit(int number) { return (int)(1u << number); }
//: le_reuse_leaf le_reuse_leaves
// A value of a side: that of a line and a term is get(the sums of line_at(line, part) and term_at(term, part)). MASKED: of the second
// parts, the bits that both have.
template <int MASKED, class Get, class Line, class Term> struct le_reuse_leaf_of {
    const Get &get;
    const Line &line_at;
    const Term &term_at;
    template <class F, class O, int PARTS>
    __device__ inline F value(const le_reuse_at<O, PARTS> &line, const le_reuse_at<O, PARTS> &term) const {
        O at[4] = {0, 0, 0, 0};
#pragma unroll
        for (int p = 0; p < PARTS; p++)
            at[p] = MASKED && p == 1 ? line.part[p] & term.part[p] : line.part[p] + term.part[p];
        return get(at[0], at[1], at[2], at[3]);
    }
};
template <int MASKED, class Get, class Line, class Term>
__device__ inline le_reuse_leaf_of<MASKED, Get, Line, Term> le_reuse_leaf(const Get &get, const Line &line_at, const Term &term_at) {
    return {get, line_at, term_at};
}
template <class At, class F> __device__ inline At le_reuse_parts(const F &at, int number) {
    At parts;
#pragma unroll
    for (int p = 0; p < (int)(sizeof parts.part / sizeof *parts.part); p++)
        parts.part[p] = at(number, p);
    return parts;
}
// The N leaves of a side, by number.
template <int N, class L0, class L1, class L2, class L3> struct le_reuse_leaves {
    const L0 &l0;
    const L1 &l1;
    const L2 &l2;
    const L3 &l3;
    template <class F, class At> __device__ inline F get(int n, const At &line, const At &term) const {
        if (N > 3 && n == 3) return l3.template value<F>(line, term);
        if (N > 2 && n == 2) return l2.template value<F>(line, term);
        if (N > 1 && n == 1) return l1.template value<F>(line, term);
        return l0.template value<F>(line, term);
    }
    template <class At> __device__ inline At line_at(int n, int line) const {
        if (N > 3 && n == 3) return le_reuse_parts<At>(l3.line_at, line);
        if (N > 2 && n == 2) return le_reuse_parts<At>(l2.line_at, line);
        if (N > 1 && n == 1) return le_reuse_parts<At>(l1.line_at, line);
        return le_reuse_parts<At>(l0.line_at, line);
    }
    template <class At> __device__ inline At term_at(int n, int term) const {
        if (N > 3 && n == 3) return le_reuse_parts<At>(l3.term_at, term);
        if (N > 2 && n == 2) return le_reuse_parts<At>(l2.term_at, term);
        if (N > 1 && n == 1) return le_reuse_parts<At>(l1.term_at, term);
        return le_reuse_parts<At>(l0.term_at, term);
    }
};
//: le_reuse_side le_reuse_table
// A side of LINES lines and DEPTH terms, a share of which each thread brings to shared memory. BY_TERMS: neighbours take
// terms that follow each other, else lines.
template <class F, class At, int LINES, int DEPTH, int N, int BY_TERMS, int THREADS, int TABLE, class Leaves>
struct le_reuse_side {
    enum { EACH = (LINES * DEPTH + THREADS - 1) / THREADS };
    At at[N][EACH]; // where the thread's lines are
    F some[N][EACH];
    __device__ inline bool has(int e) const {
        return LINES * DEPTH % THREADS == 0 || (int)threadIdx.x + e * THREADS < LINES * DEPTH;
    }
    // LINES, DEPTH and THREADS are powers of two; written so that compilers see what is the same for all e.
    enum { NEAR = BY_TERMS ? DEPTH : LINES < THREADS ? LINES : THREADS, FAR = THREADS / NEAR, TURNS = LINES / THREADS };
    __device__ inline int near() const { return (int)(threadIdx.x % NEAR); }
    __device__ inline int far(int e) const { return (int)(threadIdx.x / NEAR) + e * FAR; }
    __device__ inline int line(int e) const {
        return BY_TERMS ? far(e) : TURNS > 1 ? near() + e % (TURNS ? TURNS : 1) * THREADS : near();
    }
    __device__ inline int term(int e) const { return BY_TERMS ? near() : TURNS > 1 ? e / (TURNS ? TURNS : 1) : far(e); }
    __device__ inline void begin(const Leaves &leaves) {
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                at[n][e] = leaves.template line_at<At>(n, has(e) ? line(e) : 0);
    }
    // LAST: some terms are beyond the last one, which is read instead.
    template <int LAST, int ROOM>
    __device__ inline void fetch_some(int first, int terms, const Leaves &leaves, const At (&table)[N][ROOM]) {
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                if (!has(e))
                    continue;
                const int k = LAST && first + term(e) >= terms ? terms - 1 : first + term(e);
                some[n][e] = leaves.template get<F>(n, at[n][e], TABLE ? table[n][first % ROOM + term(e)] : leaves.template term_at<At>(n, k));
            }
    }
    template <int ROOM> __device__ inline void fetch(int first, int terms, const Leaves &leaves, const At (&table)[N][ROOM]) {
        if (TABLE || first + DEPTH <= terms)
            fetch_some<0>(first, terms, leaves, table);
        else
            fetch_some<1>(first, terms, leaves, table);
    }
    template <int PITCH> __device__ inline void keep(F (&room)[N][DEPTH][PITCH]) const {
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                if (has(e))
                    room[n][term(e)][line(e)] = some[n][e];
    }
};
template <class At, int N, int THREADS, class Leaves, int ROOM>
__device__ inline void le_reuse_table(int first, int terms, const Leaves &leaves, At (&table)[N][ROOM]) {
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll 1
        for (int k = first + (int)threadIdx.x; k < first + ROOM; k += THREADS) {
            const At made = leaves.template term_at<At>(n, k < terms ? k : terms - 1); // sim's checks do not see what a call stores
            table[n][k % ROOM] = made;
        }
}
//: le_reuse_step
// FRESH: the term is the first of a chunk.
template <bool FRESH, int TR, int TC, int MR, int MC, int DEPTH, int NL, int NR, class M, class F, class G, int PL, int PR, class Add>
__device__ inline void le_reuse_step(int d, int term, const F (&left)[NL][DEPTH][PL], const G (&right)[NR][DEPTH][PR],
                                     const Add &add, M (&chunk)[MR][MC]) {
    enum { MOST_R = sizeof(F) > 4 ? 2 : 4, MOST_C = sizeof(G) > 4 ? 2 : 4, QR = MR < MOST_R ? MR : MOST_R, QC = MC < MOST_C ? MC : MOST_C };
    F a[NL < 4 ? 4 : NL][MR];
    G b[NR < 4 ? 4 : NR][MC];
    const le_reuse_thread<TR, TC> at;
#pragma unroll
    for (int n = 0; n < 4; n++) {
#pragma unroll
        for (int q = 0; q < MR / QR; q++) {
            F some[QR];
            le_read<QR>(some, &left[n < NL ? n : 0][d][le_reuse_line<F, TR, MR>(at.row, q * QR)]);
#pragma unroll
            for (int k = 0; k < QR; k++)
                a[n][q * QR + k] = some[k];
        }
#pragma unroll
        for (int q = 0; q < MC / QC; q++) {
            G some[QC];
            le_read<QC>(some, &right[n < NR ? n : 0][d][le_reuse_line<G, TC, MC>(at.column, q * QC)]);
#pragma unroll
            for (int k = 0; k < QC; k++)
                b[n][q * QC + k] = some[k];
        }
    }
#pragma unroll
    for (int i = 0; i < MR; i++)
#pragma unroll
        for (int j = 0; j < MC; j++)
            chunk[i][j] = add(a[0][i], a[1][i], a[2][i], a[3][i], b[0][j], b[1][j], b[2][j], b[3][j], term, FRESH ? M::none() : chunk[i][j]);
}
//: le_reuse_totals
// add: the total so far with a term. LEVELS: of the tree of units of 1,024 terms; less than 0: no sum with reuse (NUMERICS,
// rule 3b), whose order shows. O: the type of what says where lines and terms are, in PL and PR parts; TABLE: such terms that are kept.
template <class M, class F, class G, class O, int TR, int TC, int MR, int MC, int DEPTH, int NL, int NR, int PL, int PR,
          int LEFT_BY_TERMS, int RIGHT_BY_TERMS, int TABLE, int LEVELS, class Add, class L0, class L1, class L2, class L3, class R0, class R1,
          class R2, class R3>
__device__ inline void le_reuse_totals(int terms, const Add &add, const L0 &left0, const L1 &left1, const L2 &left2,
                                       const L3 &left3, const R0 &right0, const R1 &right1, const R2 &right2,
                                       const R3 &right3,
                                       le_reuse_room<M, TR * TC * MC, F, G, O, TR * MR, TC * MC, DEPTH, NL, NR, PL, PR, TABLE> &all,
                                       M (&totals)[MR][MC]) {
    enum { THREADS = TR * TC, ROWS = TR * MR, COLUMNS = TC * MC };
    // Of short steps two, so that addresses in both halves of the room are known, and of a rest that is not whole several terms.
    constexpr int UNROLL = MR * MC * DEPTH > 256 ? 1 : 2, UNROLL_REST = MR * MC > 16 ? 1 : 4;
    typedef le_reuse_leaves<NL, L0, L1, L2, L3> Left;
    typedef le_reuse_leaves<NR, R0, R1, R2, R3> Right;
    auto &room = all.terms;
    const Left left = {left0, left1, left2, left3};
    const Right right = {right0, right1, right2, right3};
    typedef le_reuse_at<O, PL> LeftAt;
    typedef le_reuse_at<O, PR> RightAt;
    le_reuse_side<F, LeftAt, ROWS, DEPTH, NL, LEFT_BY_TERMS, THREADS, TABLE, Left> rows;
    le_reuse_side<G, RightAt, COLUMNS, DEPTH, NR, RIGHT_BY_TERMS, THREADS, TABLE, Right> columns;
    M chunk[MR][MC], pending[LEVELS > 0 ? LEVELS : 1][MR][MC];
    unsigned units = 0; // bit b: pending[b] is the total of 2^b units
    int now = 0;
#pragma unroll
    for (int k = 0; k < MR * MC; k++)
        chunk[k / MC][k % MC] = totals[k / MC][k % MC] = M::none();
    rows.begin(left);
    columns.begin(right);
    if (TABLE) {
        le_reuse_table<LeftAt, NL, THREADS>(0, terms, left, room.left_at);
        le_reuse_table<RightAt, NR, THREADS>(0, terms, right, room.right_at);
        __syncthreads();
    }
    rows.fetch(0, terms, left, room.left_at);
    columns.fetch(0, terms, right, room.right_at);
#pragma unroll UNROLL
    for (int first = 0; first < terms; first += DEPTH) {
        const int next = first + DEPTH;
        rows.keep(room.left[now]);
        columns.keep(room.right[now]);
        if (TABLE && next % (TABLE ? TABLE : 1) == 0) {
            __syncthreads(); // all have used what it had
            le_reuse_table<LeftAt, NL, THREADS>(next, terms, left, room.left_at);
            le_reuse_table<RightAt, NR, THREADS>(next, terms, right, room.right_at);
        }
        __syncthreads();
        if (next < terms) {
            rows.fetch(next, terms, left, room.left_at);
            columns.fetch(next, terms, right, room.right_at);
        }
        if (next <= terms) {
            if (LEVELS >= 0 && first % 32 == 0)
                le_reuse_step<true, TR, TC, MR, MC, DEPTH, NL, NR>(0, first, room.left[now], room.right[now], add, chunk);
            else
                le_reuse_step<false, TR, TC, MR, MC, DEPTH, NL, NR>(0, first, room.left[now], room.right[now], add, chunk);
#pragma unroll
            for (int d = 1; d < DEPTH; d++)
                le_reuse_step<false, TR, TC, MR, MC, DEPTH, NL, NR>(d, first + d, room.left[now], room.right[now], add, chunk);
        } else {
#pragma unroll
            for (int k = 0; k < MR * MC; k++)
                if (LEVELS >= 0 && first % 32 == 0)
                    chunk[k / MC][k % MC] = M::none();
#pragma unroll UNROLL_REST
            for (int d = 0; d < terms - first; d++)
                le_reuse_step<false, TR, TC, MR, MC, DEPTH, NL, NR>(d, first + d, room.left[now], room.right[now], add, chunk);
        }
        now ^= 1;
        if (LEVELS >= 0 && (next % 32 == 0 || next >= terms)) {
#pragma unroll
            for (int k = 0; k < MR * MC; k++)
                totals[k / MC][k % MC] = totals[k / MC][k % MC].join(chunk[k / MC][k % MC]);
        }
        if (LEVELS > 0 && next % 1024 == 0) {
            int level = 0;
#pragma unroll 1
            for (; units >> level & 1; level++)
#pragma unroll
                for (int k = 0; k < MR * MC; k++)
                    totals[k / MC][k % MC] = pending[level][k / MC][k % MC].join(totals[k / MC][k % MC]);
#pragma unroll
            for (int k = 0; k < MR * MC; k++) {
                pending[level][k / MC][k % MC] = totals[k / MC][k % MC];
                totals[k / MC][k % MC] = M::none();
            }
            units++;
        }
    }
#pragma unroll 1
    for (int level = 0; LEVELS > 0 && units >> level != 0; level++)
        if (units >> level & 1)
#pragma unroll
            for (int k = 0; k < MR * MC; k++)
                totals[k / MC][k % MC] = pending[level][k / MC][k % MC].join(totals[k / MC][k % MC]);
    if (LEVELS < 0)
#pragma unroll
        for (int k = 0; k < MR * MC; k++)
            totals[k / MC][k % MC] = chunk[k / MC][k % MC];
    le_reuse_turn<F, G, TR, TC, MR, MC>(totals, all.turned);
}
