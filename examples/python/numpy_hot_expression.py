"""A NumPy script with one hot expression: the nearest weather station to each place, and its distance in kilometers.

NumPy makes arrays of all pairs. Leat computes each pair where it is needed, on all cores.

    python numpy_hot_expression.py [PLACES [STATIONS]]
"""

import sys
import time

import numpy as np

import leat

nearest = leat.program("""
in lat, lon, station_lat, station_lon
def haversine(a, b, c, d) = sin((c - a) / 2)**2 + cos(a) * cos(c) * sin((d - b) / 2)**2
near[i] = argmin(k: haversine(lat[i], lon[i], station_lat[k], station_lon[k]))
km[i] = 2 * 6371 * asin(sqrt(haversine(lat[i], lon[i], station_lat[near[i]], station_lon[near[i]])))
out near, km
""")


def nearest_numpy(lat, lon, station_lat, station_lon):
    lat, lon = lat[:, None], lon[:, None]
    h = np.sin((station_lat - lat) / 2) ** 2 + np.cos(lat) * np.cos(station_lat) * np.sin((station_lon - lon) / 2) ** 2
    return h.argmin(axis=1), 2 * 6371 * np.arcsin(np.sqrt(h.min(axis=1)))


def fastest_ms(function, *arguments, repeat=5):
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        results = function(*arguments)
        times.append(1e3 * (time.perf_counter() - begin))
    return min(times), results


def main(places=20_000, stations=400):
    random = np.random.default_rng(1)
    arguments = [
        np.radians(random.uniform(low, high, count))
        for count in (places, stations)
        for low, high in ((35, 60), (-10, 30))  # latitudes and longitudes of Europe
    ]
    numpy_ms, (near, km) = fastest_ms(nearest_numpy, *arguments)
    leat_ms, (leat_near, leat_km) = fastest_ms(nearest, *arguments)
    assert np.array_equal(near, leat_near)
    np.testing.assert_allclose(leat_km, km, rtol=1e-9)
    print(f"{places} places, {stations} stations: on average {km.mean():.1f} km to the nearest station")
    print(f"NumPy {numpy_ms:.1f} ms, Leat {leat_ms:.1f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
