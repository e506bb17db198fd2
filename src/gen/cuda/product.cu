// Computes the sums of products of a SIDE x SIDE tile with a block of (SIDE / MICRO)^2 threads, each with MICRO x MICRO
// sums. Factors go through shared memory, DEPTH terms at a time, while the next ones are being read from memory.
//: le_quad
template <class F> struct alignas(sizeof(F) > 4 ? 16 : 4 * sizeof(F)) le_quad { F at[4]; };
//: le_tile_room
template <class F, int SIDE, int DEPTH> struct le_tile_room { le_quad<F> left[2][DEPTH][SIDE / 4 + 1], right[2][DEPTH][SIDE / 4 + 1]; };
//: le_tile_line
// The m-th of the thread's lines: fours, so that neighbours read shared memory side by side.
template <int SIDE, int MICRO> __device__ inline int le_tile_line(int thread, int m) {
    return m / 4 * (4 * SIDE / MICRO) + thread * 4 + m % 4;
}
//: le_tile_add
template <class F, class T> __device__ inline T le_tile_add(F a, F b, T sum) {
    return (T)((unsigned long long)sum + (unsigned long long)(T)(F)((unsigned long long)a * (unsigned long long)b));
}
__device__ inline float le_tile_add(float a, float b, float sum) { return fmaf(a, b, sum); }
__device__ inline double le_tile_add(double a, double b, double sum) { return fma(a, b, sum); }
//: le_tile_fetch le_tile_keep
// The thread's share of SIDE lines of DEPTH terms; BY_TERMS: neighbours take terms that follow each other, else lines.
template <int SIDE, int DEPTH, bool BY_TERMS, int EACH, class F, class Get>
__device__ inline void le_tile_fetch(F (&some)[EACH], int first, const Get &get) {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int n = (int)threadIdx.x + e * (SIDE * DEPTH / EACH);
        some[e] = get(BY_TERMS ? n / DEPTH : n % SIDE, first + (BY_TERMS ? n % DEPTH : n / SIDE));
    }
}
template <int SIDE, int DEPTH, bool BY_TERMS, int EACH, class F>
__device__ inline void le_tile_keep(const F (&some)[EACH], le_quad<F> (&room)[DEPTH][SIDE / 4 + 1]) {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int n = (int)threadIdx.x + e * (SIDE * DEPTH / EACH);
        const int line = BY_TERMS ? n / DEPTH : n % SIDE;
        room[BY_TERMS ? n % DEPTH : n / SIDE][line / 4].at[line % 4] = some[e];
    }
}
//: le_tile_step
template <int SIDE, int MICRO, int DEPTH, class F, class T>
__device__ inline void le_tile_step(const le_quad<F> (&left)[DEPTH][SIDE / 4 + 1], const le_quad<F> (&right)[DEPTH][SIDE / 4 + 1],
                                    T (&sums)[MICRO][MICRO]) {
    const int across = SIDE / MICRO, row = (int)threadIdx.x / across, column = (int)threadIdx.x % across;
#pragma unroll 4
    for (int d = 0; d < DEPTH; d++) {
        le_quad<F> a[MICRO / 4], b[MICRO / 4];
#pragma unroll
        for (int q = 0; q < MICRO / 4; q++) {
            a[q] = left[d][le_tile_line<SIDE, MICRO>(row, 4 * q) / 4];
            b[q] = right[d][le_tile_line<SIDE, MICRO>(column, 4 * q) / 4];
        }
#pragma unroll
        for (int i = 0; i < MICRO; i++)
#pragma unroll
            for (int j = 0; j < MICRO; j++)
                sums[i][j] = le_tile_add(a[i / 4].at[i % 4], b[j / 4].at[j % 4], sums[i][j]);
    }
}
//: le_tile_sums
// left(line, term) and right(line, term) give 0 outside.
template <int SIDE, int MICRO, int DEPTH, bool LEFT_BY_TERMS, bool RIGHT_BY_TERMS, class F, class T, class Left, class Right>
__device__ inline void le_tile_sums(int terms, const Left &left, const Right &right, le_tile_room<F, SIDE, DEPTH> &room,
                                    T (&sums)[MICRO][MICRO]) {
    const int each = SIDE * DEPTH / (SIDE / MICRO * (SIDE / MICRO));
    F a[each], b[each];
    int now = 0;
#pragma unroll
    for (int k = 0; k < MICRO * MICRO; k++)
        sums[k / MICRO][k % MICRO] = 0;
    le_tile_fetch<SIDE, DEPTH, LEFT_BY_TERMS>(a, 0, left);
    le_tile_fetch<SIDE, DEPTH, RIGHT_BY_TERMS>(b, 0, right);
    __syncthreads(); // the room may be in use for sums before these
    for (int first = 0; first < terms; first += DEPTH) {
        le_tile_keep<SIDE, DEPTH, LEFT_BY_TERMS>(a, room.left[now]);
        le_tile_keep<SIDE, DEPTH, RIGHT_BY_TERMS>(b, room.right[now]);
        __syncthreads();
        if (first + DEPTH < terms) {
            le_tile_fetch<SIDE, DEPTH, LEFT_BY_TERMS>(a, first + DEPTH, left);
            le_tile_fetch<SIDE, DEPTH, RIGHT_BY_TERMS>(b, first + DEPTH, right);
        }
        le_tile_step<SIDE, MICRO, DEPTH>(room.left[now], room.right[now], sums);
        now ^= 1;
    }
}
