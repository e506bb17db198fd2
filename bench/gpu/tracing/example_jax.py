"""A program as JAX's users write them: a net fitted with jit, vmap, grad and scan, a pendulum's length found by simulating it, and
Newton's method over a batch. Its output is the same in each run."""
import os

os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = 'false'
os.environ['XLA_FLAGS'] = os.environ.get('XLA_FLAGS', '') + ' --xla_gpu_deterministic_ops=true'
import functools

import jax
import jax.numpy as jnp
import numpy as np


def make_net(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (n, m)) * jnp.sqrt(2 / n), jnp.zeros(m)) for k, n, m in zip(keys, sizes, sizes[1:])]


def net_of(net, x):
    for weights, bias in net[:-1]:
        x = jnp.tanh(x @ weights + bias)
    weights, bias = net[-1]
    return (x @ weights + bias)[0]


def error(net, xs, ys):
    return jnp.mean((jax.vmap(net_of, (None, 0))(net, xs) - ys) ** 2)


@jax.jit
def step(net, moment, xs, ys):
    value, gradient = jax.value_and_grad(error)(net, xs, ys)
    moment = jax.tree.map(lambda m, g: 0.9 * m + g, moment, gradient)
    return jax.tree.map(lambda p, m: p - 0.02 * m, net, moment), moment, value


def fit(turns):
    random = np.random.default_rng(7)
    xs = random.uniform(-2, 2, (2048, 2)).astype(np.float32)
    ys = np.sin(xs[:, 0]) * xs[:, 1]
    net = make_net(jax.random.key(0), (2, 64, 64, 1))
    moment = jax.tree.map(jnp.zeros_like, net)
    for turn in range(turns):
        batch = random.choice(2048, 256, replace=False)
        net, moment, value = step(net, moment, xs[batch], ys[batch])
        if turn % (turns // 5) == 0:
            print('turn %d: error %.3f' % (turn, value))
    print('fitted: error %.3f' % error(net, xs, ys))
    slopes = jax.vmap(jax.grad(net_of, 1), (None, 0))(net, xs[:4])
    print('slopes:', ' '.join('%.2f' % value for value in np.asarray(slopes).ravel()))


def swing(length, start, count):
    """The angles of a pendulum."""
    def move(state, _):
        angle, speed = state
        speed = speed - 9.81 / length * jnp.sin(angle) * 0.01
        angle = angle + speed * 0.01
        return (angle, speed), angle
    return jax.lax.scan(move, (start, 0.0), length=count)[1]


def find_length():
    seen = swing(1.7, 0.5, 300)
    slope = jax.jit(jax.value_and_grad(lambda length: jnp.mean((swing(length, 0.5, 300) - seen) ** 2)))
    length = 1.4
    for _ in range(20):
        value, by_length = slope(length)
        length = length - 0.5 * by_length
    print('pendulum: length %.2f' % length)


@functools.partial(jax.jit, static_argnums=1)
def roots(targets, turns):
    def one(target):
        return jax.lax.fori_loop(0, turns, lambda _, x: x - (x ** 3 + x - target) / (3 * x ** 2 + 1), target)
    return jax.vmap(one)(targets)


def main():
    fit(100)
    find_length()
    targets = jnp.linspace(1, 30, 10_000)
    x = roots(targets, 20)
    print('roots: %s, first %.4f, last %.4f' % (bool(jnp.allclose(x ** 3 + x, targets, rtol=1e-4)), x[0], x[-1]))
    covariance = jnp.cov(jax.random.normal(jax.random.key(3), (8, 4096)))
    print('eigenvalues above 0.8:', int((jnp.linalg.eigvalsh(covariance) > 0.8).sum()))


main()
