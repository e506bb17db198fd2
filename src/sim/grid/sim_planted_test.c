/* Kernels with planted bugs, and correct ones, run through the compiler, the executor and the checks. In particular,
 * this tests the source locations and names in reports, which come from the compiler and the executor. */
#include "sim/grid/sim_exec_testing.h"
#include <stdlib.h>
#include <string.h>

enum { VALID_BYTES = 1600, MEMORY_BYTES = 4096 };
struct planted {
    const char *name, *source;
    unsigned blocks, threads;
    size_t dynamic_bytes;
    const char *first, *second; /* texts in the report; NULL: there must be no report */
};

static void run_planted(const struct planted *row) {
    char *memory = aligned_alloc(MEMORY_BYTES, MEMORY_BYTES);
    struct testing t = testing_load(row->source, true, NULL);
    uintptr_t address = (uintptr_t)memory;
    size_t valid = strcmp(row->name, "oob") == 0 ? 400 : VALID_BYTES;
    char what[64];
    snprintf(what, sizeof what, "array of %zu bytes", valid);
    le_sim_check_memory(t.check, address, MEMORY_BYTES, SIM_MEMORY_NONE, "nothing");
    le_sim_check_memory(t.check, address, valid, SIM_MEMORY_VALID, what);
    void *p = memory;
    int n = 100;
    void *parameters[] = {&p, &n};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        memset(memory, 0, MEMORY_BYTES);
        le_sim_check_reports_clear(t.check);
        testing_launch(&t, "k", DIM(row->blocks, 1, 1), DIM(row->threads, 1, 1), row->dynamic_bytes, seed, parameters);
        const char *report = le_sim_check_reports(t.check);
        bool right = row->first ? report && strstr(report, row->first) && strstr(report, row->second) : !report;
        if (!right)
            print_error("%s, seed %d: %s\n%s\n", row->name, (int)seed, t.grid.message, report ? report : "no report");
        assert_true(right);
    }
    testing_finish(&t);
    free(memory);
}

static const struct planted bugs[] = {
    {"divergent",
     "__global__ void k(float*o){\n"
     " if(threadIdx.x<8)\n"
     "  __syncthreads();\n"
     " o[threadIdx.x]=1;\n"
     "}\n",
     1, 32, 0, "divergent barrier", "kernel.cu:3"},
    {"divergent2",
     "__global__ void k(float*o){\n"
     " if(threadIdx.x<8)\n"
     "  __syncthreads();\n"
     " else\n"
     "  __syncthreads();\n"
     " o[threadIdx.x]=1;\n"
     "}\n",
     1, 32, 0, "at different barriers", "kernel.cu:5"},
    {"shared race",
     "__global__ void k(float*o){\n"
     " __shared__ float s[64];\n"
     " s[threadIdx.x]=o[threadIdx.x];\n"
     " o[threadIdx.x]=s[(threadIdx.x+1)%64];\n"
     "}\n",
     1, 64, 0, "shared race", "shared 's' (256 bytes)"},
    {"global race",
     "__global__ void k(float*o){\n"
     " o[threadIdx.x]=blockIdx.x;\n"
     "}\n",
     2, 32, 0, "global race", "kernel.cu:2"},
    {"uninit",
     "__global__ void k(float*o){\n"
     " __shared__ float s[64];\n"
     " if(threadIdx.x<60) s[threadIdx.x]=1;\n"
     " __syncthreads();\n"
     " o[threadIdx.x]=s[threadIdx.x];\n"
     "}\n",
     1, 64, 0, "uninitialized read", "kernel.cu:5"},
    {"uninit never",
     "__global__ void k(float*o){\n"
     " __shared__ float s[64];\n"
     " o[threadIdx.x]=s[threadIdx.x];\n"
     "}\n",
     1, 64, 0, "uninitialized read", "kernel.cu:3"},
    {"oob",
     "__global__ void k(float*o,int n){\n"
     " if(threadIdx.x<=n) o[threadIdx.x]=1;\n"
     "}\n",
     1, 128, 0, "out of bounds", "just after the end of an array of 400 bytes"},
    {"oob tile",
     "__global__ void k(float*o){\n"
     " __shared__ float s[8][8];\n"
     " int x=threadIdx.x%8,y=threadIdx.x/8;\n"
     " s[y][x]=1;\n"
     " __syncthreads();\n"
     " o[threadIdx.x]=s[y][x+1];\n"
     "}\n",
     1, 64, 0, "kernel.cu:6", "subscript 8 of an array of type 'float [8]'"},
    {"oob neighbour",
     "__global__ void k(float*o){\n"
     " __shared__ float a[32]; __shared__ float b[32];\n"
     " float *p=a;\n"
     " a[threadIdx.x]=1; b[threadIdx.x]=2;\n"
     " __syncthreads();\n"
     " o[threadIdx.x]=p[threadIdx.x+1]+b[threadIdx.x];\n"
     "}\n",
     1, 32, 0, "kernel.cu:6", "just after the end of shared 'a'"},
    {"misaligned",
     "__global__ void k(float*o){\n"
     " float2*p=(float2*)(o+1);\n"
     " p[threadIdx.x].x=1; float4 v=*(float4*)(o+2); o[99]=v.x;\n"
     "}\n",
     1, 1, 0, "misaligned access", "kernel.cu:3"},
    {"dynamic small",
     "__global__ void k(float*o){\n"
     " extern __shared__ float s[];\n"
     " s[threadIdx.x]=1; __syncthreads();\n"
     " o[threadIdx.x]=s[threadIdx.x];\n"
     "}\n",
     1, 32, 124, "dynamic shared memory too small", "kernel.cu:3"},
    {"syncwarp missing",
     "__global__ void k(float*o){\n"
     " __shared__ float s[32];\n"
     " s[threadIdx.x]=1;\n"
     " o[threadIdx.x]=s[31-threadIdx.x];\n"
     "}\n",
     1, 32, 0, "shared race", "kernel.cu:4"},
    {"read beside atomics",
     "__global__ void k(int *o) {\n"
     " if (*o < 50)\n"
     "  atomicAdd(o, 1);\n"
     "}\n",
     4, 32, 0, "global race", "kernel.cu:2"},
    {"mask",
     "__global__ void k(float*o){\n"
     " if(threadIdx.x<16)\n"
     "  o[threadIdx.x]=__shfl_down_sync(0xffffffffu,1.f,1);\n"
     "}\n",
     1, 32, 0, "kernel.cu:3", "the mask includes lane 16"},
    {"oob global",
     "__device__ int before=1,g[4]; __device__ int z[3]={1,2,3};\n"
     "__global__ void k(float*o,int n){\n"
     " int *p=g; o[0]=p[threadIdx.x+n-99];\n"
     " int *q=z; o[1]=q[threadIdx.x+n-98];\n"
     "}\n",
     1, 4, 0, "kernel.cu:3", "just after the end of __device__ variable g of 16 bytes"},
};

static void planted_bugs_are_found(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(bugs); k++)
        run_planted(&bugs[k]);
}

static const struct planted correct_kernels[] = {
    {"ok syncwarp",
     "__global__ void k(float*o){\n"
     " __shared__ float s[32];\n"
     " s[threadIdx.x]=1;\n"
     " __syncwarp();\n"
     " o[threadIdx.x]=s[31-threadIdx.x];\n"
     "}\n",
     1, 32, 0, NULL, NULL},
    {"ok shuffles",
     "__global__ void k(float*o){\n"
     " float v=threadIdx.x;\n"
     " for(int d=16;d;d/=2) v+=__shfl_down_sync(0xffffffffu,v,d);\n"
     " if(threadIdx.x%32==0) atomicAdd(o,v);\n"
     " if(__any_sync(0xffffffffu,v>3)) o[threadIdx.x+blockIdx.x*64+1]=v;\n"
     "}\n",
     2, 64, 0, NULL, NULL},
    {"ok last",
     "__device__ unsigned d; __device__ float p[8];\n"
     "__global__ void k(float*o){\n"
     " __shared__ bool m;\n"
     " if(threadIdx.x==0){ p[blockIdx.x]=1; __threadfence(); m=atomicInc(&d,gridDim.x-1)==gridDim.x-1;}\n"
     " __syncthreads();\n"
     " if(m&&threadIdx.x==0){ float s=0; for(int i=0;i<gridDim.x;i++) s+=p[i]; *o=s; }\n"
     "}\n",
     8, 32, 0, NULL, NULL},
    {"ok lock",
     "__device__ int l,c;\n"
     "__global__ void k(float*o){\n"
     " if(threadIdx.x==0){ while(atomicCAS(&l,0,1)){} __threadfence(); c++; *o=c; __threadfence(); "
     "atomicExch(&l,0); }\n"
     "}\n",
     8, 32, 0, NULL, NULL},
    {"ok matmul",
     "#define T 8\n"
     "__global__ void k(float*o){\n"
     " __shared__ float x[T][T];\n"
     " int a=threadIdx.x/T,b=threadIdx.x%T; float s=0;\n"
     " for(int t=0;t<4;t++){ x[a][b]=o[t*64+threadIdx.x]; __syncthreads(); for(int q=0;q<T;q++) "
     "s+=x[a][q]*x[q][b]; __syncthreads(); }\n"
     " o[256+threadIdx.x]=s;\n"
     "}\n",
     1, 64, 0, NULL, NULL},
    {"ok statics",
     "__device__ int g[4]; __device__ const char*names[]={\"a\",\"b\"}; __device__ float f(int i){ static const "
     "char*const t[]={\"x\",\"y\"}; static int calls; if(blockIdx.x==0&&threadIdx.x==0) calls++; const float "
     "w[3]={1,2,3}; return w[i%3]+t[i%2][0]+names[i%2][0]; }\n"
     "__global__ void k(float*o){\n"
     " o[threadIdx.x]=f(threadIdx.x)+g[threadIdx.x%4];\n"
     "}\n",
     1, 4, 0, NULL, NULL},
    {"ok pairs of halves",
     "#include <cuda_fp16.h>\n"
     "struct Box { float at[2]; __device__ Box() {} __device__ Box(float x) { at[0] = at[1] = x; } };\n"
     "__global__ void k(float *o) {\n"
     " __shared__ __half2 s[64]; __shared__ Box b[64];\n"
     " s[threadIdx.x] = __floats2half2_rn(o[threadIdx.x], 1.f); b[threadIdx.x] = Box(1);\n"
     " __syncthreads();\n"
     " o[64 + threadIdx.x] = __low2float(__hadd2(s[threadIdx.x], s[63 - threadIdx.x])) + b[63 - "
     "threadIdx.x].at[1];\n"
     "}\n",
     1, 64, 0, NULL, NULL},
    {"ok swap loop",
     "__global__ void k(float *o) {\n"
     " unsigned long long *at = (unsigned long long *)o, old = *at, seen;\n"
     " do { seen = old; old = atomicCAS(at, seen, __double_as_longlong(1 + __longlong_as_double(seen))); }\n"
     " while (seen != old);\n"
     "}\n",
     4, 32, 0, NULL, NULL},
    {"ok printf struct",
     "struct P{float a,b,c;};\n"
     "__global__ void k(P*o){\n"
     " P p={1,2,3}; o[threadIdx.x]=p; P q=o[threadIdx.x]; o[threadIdx.x].a=q.b;\n"
     " float4 *f=(float4*)(o+64); f[threadIdx.x]=make_float4(1,2,3,4); if(threadIdx.x==0) printf(\"hi\\n"
     "\");\n"
     "}\n",
     1, 32, 0, NULL, NULL},
};

static void correct_kernels_have_no_reports(void **state) {
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(correct_kernels); k++)
        run_planted(&correct_kernels[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_bugs_are_found),
        cmocka_unit_test(correct_kernels_have_no_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
