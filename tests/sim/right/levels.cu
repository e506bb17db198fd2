// A breadth-first search by one block, one level at a time; several threads may store the same value.
// launch: search --grid 1 --block 64 level=i32[256]
__global__ void search(int *level) {
    __shared__ bool more;
    for (int i = (int)threadIdx.x; i < 256; i += 64)
        level[i] = i == 0 ? 0 : 1 << 20;
    int now = 0;
    do {
        __syncthreads();
        if (threadIdx.x == 0)
            more = false;
        __syncthreads();
        int reached[4];
        for (int k = 0; k < 4; k++)
            reached[k] = level[(int)threadIdx.x + 64 * k] == now;
        __syncthreads();
        for (int k = 0; k < 4; k++) {
            int i = (int)threadIdx.x + 64 * k, next[2] = {(2 * i + 1) % 256, (3 * i + 2) % 256};
            for (int e = 0; reached[k] && e < 2; e++)
                if (atomicMin(&level[next[e]], now + 1) > now + 1)
                    more = true;
        }
        __syncthreads();
        now++;
    } while (more);
}
