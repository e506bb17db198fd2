"""Small operations one by one, against one jitted loop of all."""
import jax
import jax.numpy as jnp

import pair

x = jnp.ones(1000)


def one_by_one():
    y = x
    for _ in range(50 * pair.TURNS):
        y = jnp.sin(y) * 1.5
    y.block_until_ready()


@jax.jit
def loop(y):
    return jax.lax.fori_loop(0, 50 * pair.TURNS, lambda _, value: jnp.sin(value) * 1.5, y)


pair.run(one_by_one, lambda: loop(x).block_until_ready() and None, lambda: None)
