"""CuPy's part of the general GPU benchmark: array expressions, the functions of cupyx, and kernels of elements and reductions."""
import os

os.environ.setdefault('CUPY_TF32', '0')
import cupy as cp

import program_cupy


class Peer(program_cupy.CuPy):
    def __init__(self, o): super().__init__(o, None)

    def prepare(self, work, arrays):
        """CuPy computes with bf16 only in matrix products, so works with bf16 have no way."""
        self.usable = all(i.dtype != 'bf16' for i in work.inputs)
        return {name: cp.asarray(a) for name, a in arrays.items()} if self.usable else {}

    def fetch(self, made): return [cp.asnumpy(a) for a in (made if isinstance(made, (tuple, list)) else (made,))]

    def ways(self, work, v):
        for label, f in work.cupy.items() if self.usable else ():
            yield label, (lambda f=f: f(cp, {**v, **work.numbers})), True

    def captured(self, f, count):
        """(a function that launches a graph of `count` runs of f, what the last of them makes)"""
        with cp.cuda.Stream(non_blocking=True) as stream:
            f(), f()  # the stream's pool has room for the results now
            stream.synchronize()
            stream.begin_capture()
            try:
                for _ in range(count):
                    made = f()
            finally:
                graph = stream.end_capture()
        return graph.launch, made


def open_peer(o): return Peer(o)
