"""JAX's part of the general GPU benchmark: everything under jit, products of f32 in f32. JAX has no events of the device, so times are
the host's, over several calls and one wait."""
import os

os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')
os.environ.setdefault('TF_ENABLE_WINOGRAD_NONFUSED', '0')
import jax
import jax.numpy as jnp
import numpy as np

import program_jax


class Peer(program_jax.Jax):
    def __init__(self, o): super().__init__(o, None)

    def prepare(self, work, arrays):
        made = {}
        for i in work.inputs:
            a = jnp.asarray(np.ascontiguousarray(arrays[i.name]))
            made[i.name] = jax.lax.bitcast_convert_type(a, jnp.bfloat16) if i.dtype == 'bf16' else a
        return made

    def fetch(self, made):
        plain = lambda a: np.asarray(a.astype(jnp.float32) if a.dtype == jnp.bfloat16 else a)
        return [plain(a) for a in (made if isinstance(made, (tuple, list)) else (made,))]

    def wait(self): jax.block_until_ready(self.last)

    def ways(self, work, v):
        names, arrays = list(v), list(v.values())
        for label, f in work.jax.items():
            yield label, self.jitted(lambda *a, f=f: f(jnp, {**dict(zip(names, a)), **work.numbers}), *arrays), True


def open_peer(o): return Peer(o)
