"""Small operations one by one, compared with one jitted loop of all."""
import jax
import jax.numpy as jnp

import pair

STEPS = 100 if pair.SMALL else 1000
x, factor = jnp.ones(1000), jnp.float32(1.5)  # a Python float would be uploaded each time, by another thread


def one_by_one():
    y = x
    for _ in range(STEPS):
        y = jnp.sin(y) * factor
    y.block_until_ready()


@jax.jit
def loop(y):
    return jax.lax.fori_loop(0, STEPS, lambda _, value: jnp.sin(value) * factor, y)


def at_once():
    loop(x).block_until_ready()


pair.run(one_by_one, at_once, lambda: None)
