// 16-bit floats: rounding in each direction, integers, pairs, increments.
// launch: halves --grid 1 --block 1 sum=i32[1]
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void halves(int *sum) {
    float third = 1.f / 3;
    assert((float)__float2half_rd(third) < third && third < (float)__float2half_ru(third));
    assert(__half_as_ushort(__float2half_ru(third)) == __half_as_ushort(__float2half_rz(third)) + 1);
    assert(__heq(__float2half_rz(-third), __float2half_ru(-third)));
    assert(__half_as_ushort(__float2half_ru(1e-9f)) == 1 && __half_as_ushort(__float2half_rd(-1e-9f)) == 0x8001);
    assert(__half_as_ushort(__float2half_rz(1e-9f)) == 0 && __half_as_ushort(__float2half_rz(1e9f)) == 0x7bff);
    assert((float)__float2bfloat16_rd(third) < third && third < (float)__float2bfloat16_ru(third));
    assert((float)__int2half_rz(2049) == 2048 && (float)__int2half_ru(2049) == 2050);
    half x = __short2half_rn(-3);
    assert(__half2int_rd(x - half(0.5f)) == -4 && __half2int_ru(x - half(0.5f)) == -3 && __half2ushort_rn(x) == 0);
    assert((float)x++ == -3 && (float)x == -2 && (float)--x == -3);
    half2 p = __floats2half2_rn(1, 2), q = __lowhigh2highlow(p);
    assert(__hbeq2(p, p) && !__hbeq2(p, q) && p != q && __hblt2(p, __high2half2(__floats2half2_rn(0, 5))));
    assert((float)__hfma_relu(x, x, half(-10)) == 0 && (float)__hfma_sat(x, x, x) == 1);
    assert(__hltu(CUDART_NAN_FP16, x) && !__hlt(CUDART_NAN_FP16, x));
    atomicAdd((half2 *)sum, p);
    atomicAdd((half2 *)sum, p);
    assert(*(half2 *)sum == __floats2half2_rn(2, 4));
}
