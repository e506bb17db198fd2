"""Modules that are loaded in the loop: as PTX, which the driver compiles, compared with machine code."""
import os

os.environ['CUDA_CACHE_DISABLE'] = '1'  # otherwise the driver caches what it compiles
import cupy as cp
from cupy.cuda import nvrtc

import pair

NAMES = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'][:3 if pair.SMALL else 6]
TEXT = r'''
extern "C" __global__ void %s(double *x) {
    double value = x[threadIdx.x];
#pragma unroll
    for (int k = 1; k <= 2; k++)
        value = sin(value * k) + pow(value, 1.0 / k) + erf(value);
    x[threadIdx.x] = value;
}'''


def compiled(name, kind, take):
    program = nvrtc.createProgram(TEXT % name, name + '.cu', (), ())
    nvrtc.compileProgram(program, ('--gpu-architecture=%s_%s' % (kind, cp.cuda.Device().compute_capability),))
    return take(program)


ptx = [(name, compiled(name, 'compute', nvrtc.getPTX)) for name in NAMES]
code = [(name, compiled(name, 'sm', nvrtc.getCUBIN)) for name in NAMES]
x = cp.full(32, 0.5)


def work(modules):
    cp.multiply(x, 0.5, out=x)
    for name, text in modules:
        module = cp.cuda.Module()
        module.load(text)
        module.get_function(name)((1,), (32,), (x,))


pair.run(lambda: work(ptx), lambda: work(code), cp.cuda.Device().synchronize)
