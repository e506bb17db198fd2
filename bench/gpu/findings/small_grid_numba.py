"""A generalized ufunc over (100, 4000, 5) doubles with one thread for each of the 4,000, compared with one for each element."""
import pair
from pair_numba import cuda, guvectorize, np, vectorize


@guvectorize(['void(float64[:,:], float64[:,:], float64[:,:])'], '(m,k),(m,k)->(m,k)', target='cuda')
def discount_slices(value, rate, out):
    for i in range(value.shape[0]):
        for k in range(value.shape[1]):
            out[i, k] = value[i, k] * rate[i, k]


@vectorize(['float64(float64, float64)'], target='cuda')
def discount(value, rate):
    return value * rate


values = cuda.to_device(np.ones((4000, 100, 5)))
rates = cuda.to_device(np.full((4000, 100, 5), 0.5))
result = cuda.device_array((4000, 100, 5))


def with_slices():
    for _ in range(pair.TURNS):
        discount_slices(values, rates, result)
        cuda.synchronize()


def with_elements():
    for _ in range(pair.TURNS):
        discount(values, rates, out=result)
        cuda.synchronize()


pair.run(with_slices, with_elements, cuda.synchronize)
