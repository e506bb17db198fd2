// Reductions whose terms read the same elements for many points. A thread block computes a tile of points: TR x TC threads,
// each with MR x MC points. What a term needs goes through shared memory: NL values of each row, NR of each column, DEPTH
// terms at a time, while the next ones are being read from memory.
//: le_reuse_room
template <int LINES> __device__ constexpr int le_reuse_pitch() { return (LINES + 3) / 4 * 4 + 4; }
template <class F, class G, int ROWS, int COLUMNS, int DEPTH, int NL, int NR> struct alignas(16) le_reuse_room {
    alignas(16) F left[2][NL][DEPTH][le_reuse_pitch<ROWS>()];
    alignas(16) G right[2][NR][DEPTH][le_reuse_pitch<COLUMNS>()];
};
//: le_reuse_line
// Line m of the M lines of a thread, one of T: fours, so that neighbours read shared memory side by side.
template <int T, int M> __device__ inline int le_reuse_line(int thread, int m) {
    const int q = M < 4 ? M : 4;
    return m / q * (q * T) + thread * q + m % q;
}
//: le_reuse_get
template <class F, int N, class G0, class G1, class G2, class G3>
__device__ inline F le_reuse_get(int n, int line, int term, const G0 &get0, const G1 &get1, const G2 &get2, const G3 &get3) {
    if (N > 3 && n == 3) return get3(line, term);
    if (N > 2 && n == 2) return get2(line, term);
    if (N > 1 && n == 1) return get1(line, term);
    return get0(line, term);
}
//: le_reuse_fetch le_reuse_keep
// The thread's share of LINES lines of DEPTH terms. BY_TERMS: neighbours take terms that follow each other, else lines.
template <int LINES, int DEPTH, int N, int BY_TERMS, int THREADS, int EACH, class F, class G0, class G1, class G2, class G3>
__device__ inline void le_reuse_fetch(F (&some)[N][EACH], int first, const G0 &get0, const G1 &get1, const G2 &get2,
                                      const G3 &get3) {
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int at = (int)threadIdx.x + e * THREADS;
            if (LINES * DEPTH % THREADS == 0 || at < LINES * DEPTH)
                some[n][e] = le_reuse_get<F, N>(n, BY_TERMS ? at / DEPTH : at % LINES,
                                                first + (BY_TERMS ? at % DEPTH : at / LINES), get0, get1, get2, get3);
        }
}
template <int LINES, int DEPTH, int N, int BY_TERMS, int THREADS, int EACH, class F, int PITCH>
__device__ inline void le_reuse_keep(const F (&some)[N][EACH], F (&room)[N][DEPTH][PITCH]) {
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int at = (int)threadIdx.x + e * THREADS;
            if (LINES * DEPTH % THREADS == 0 || at < LINES * DEPTH)
                room[n][BY_TERMS ? at % DEPTH : at / LINES][BY_TERMS ? at / DEPTH : at % LINES] = some[n][e];
        }
}
//: le_reuse_step
template <int TR, int TC, int MR, int MC, int DEPTH, int NL, int NR, class M, class F, class G, int PL, int PR, class Add>
__device__ inline void le_reuse_step(int d, int term, const F (&left)[NL][DEPTH][PL], const G (&right)[NR][DEPTH][PR],
                                     const Add &add, M (&chunk)[MR][MC]) {
    enum { QR = MR < 4 ? MR : 4, QC = MC < 4 ? MC : 4 };
    F a[NL < 4 ? 4 : NL][MR];
    G b[NR < 4 ? 4 : NR][MC];
    const int row = (int)threadIdx.x / TC, column = (int)threadIdx.x % TC;
#pragma unroll
    for (int n = 0; n < 4; n++) {
#pragma unroll
        for (int q = 0; q < MR / QR; q++) {
            F some[QR];
            le_read<QR>(some, &left[n < NL ? n : 0][d][le_reuse_line<TR, MR>(row, q * QR)]);
#pragma unroll
            for (int k = 0; k < QR; k++)
                a[n][q * QR + k] = some[k];
        }
#pragma unroll
        for (int q = 0; q < MC / QC; q++) {
            G some[QC];
            le_read<QC>(some, &right[n < NR ? n : 0][d][le_reuse_line<TC, MC>(column, q * QC)]);
#pragma unroll
            for (int k = 0; k < QC; k++)
                b[n][q * QC + k] = some[k];
        }
    }
#pragma unroll
    for (int i = 0; i < MR; i++)
#pragma unroll
        for (int j = 0; j < MC; j++)
            chunk[i][j] = add(a[0][i], a[1][i], a[2][i], a[3][i], b[0][j], b[1][j], b[2][j], b[3][j], term, chunk[i][j]);
}
//: le_reuse_totals
// left and right: functions of (line, term), which return anything beyond the extents; add: the total so far with a term.
// LEVELS: of the tree of units of 1,024 terms; less than 0: no sum with reuse (NUMERICS, rule 3b), whose order shows.
template <class M, class F, class G, int TR, int TC, int MR, int MC, int DEPTH, int NL, int NR, int LEFT_BY_TERMS,
          int RIGHT_BY_TERMS, int LEVELS, class Add, class L0, class L1, class L2, class L3, class R0, class R1, class R2,
          class R3>
__device__ inline void le_reuse_totals(int terms, const Add &add, const L0 &left0, const L1 &left1, const L2 &left2,
                                       const L3 &left3, const R0 &right0, const R1 &right1, const R2 &right2,
                                       const R3 &right3,
                                       le_reuse_room<F, G, TR * MR, TC * MC, DEPTH, NL, NR> &room, M (&totals)[MR][MC]) {
    enum { THREADS = TR * TC, ROWS = TR * MR, COLUMNS = TC * MC };
    F a[NL][(ROWS * DEPTH + THREADS - 1) / THREADS];
    G b[NR][(COLUMNS * DEPTH + THREADS - 1) / THREADS];
    M chunk[MR][MC], pending[LEVELS > 0 ? LEVELS : 1][MR][MC];
    unsigned units = 0; // bit b: pending[b] is the total of 2^b units
    int now = 0;
#pragma unroll
    for (int k = 0; k < MR * MC; k++)
        chunk[k / MC][k % MC] = totals[k / MC][k % MC] = M::none();
    le_reuse_fetch<ROWS, DEPTH, NL, LEFT_BY_TERMS, THREADS>(a, 0, left0, left1, left2, left3);
    le_reuse_fetch<COLUMNS, DEPTH, NR, RIGHT_BY_TERMS, THREADS>(b, 0, right0, right1, right2, right3);
#pragma unroll 1
    for (int first = 0; first < terms; first += DEPTH) {
        le_reuse_keep<ROWS, DEPTH, NL, LEFT_BY_TERMS, THREADS>(a, room.left[now]);
        le_reuse_keep<COLUMNS, DEPTH, NR, RIGHT_BY_TERMS, THREADS>(b, room.right[now]);
        __syncthreads();
        const int next = first + DEPTH;
        if (next < terms) {
            le_reuse_fetch<ROWS, DEPTH, NL, LEFT_BY_TERMS, THREADS>(a, next, left0, left1, left2, left3);
            le_reuse_fetch<COLUMNS, DEPTH, NR, RIGHT_BY_TERMS, THREADS>(b, next, right0, right1, right2, right3);
        }
        if (next <= terms) {
#pragma unroll
            for (int d = 0; d < DEPTH; d++)
                le_reuse_step<TR, TC, MR, MC, DEPTH, NL, NR>(d, first + d, room.left[now], room.right[now], add, chunk);
        } else {
#pragma unroll 1
            for (int d = 0; d < terms - first; d++)
                le_reuse_step<TR, TC, MR, MC, DEPTH, NL, NR>(d, first + d, room.left[now], room.right[now], add, chunk);
        }
        now ^= 1;
        if (LEVELS >= 0 && (next % 32 == 0 || next >= terms)) {
#pragma unroll
            for (int k = 0; k < MR * MC; k++) {
                totals[k / MC][k % MC] = totals[k / MC][k % MC].join(chunk[k / MC][k % MC]);
                chunk[k / MC][k % MC] = M::none();
            }
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
}
