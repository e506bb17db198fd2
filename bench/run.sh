#!/bin/sh
# `make bench`: compares Leat with NumPy, numexpr, Numba and JAX in one run on two threads. Peers that cannot be installed are shown as
# '-'. Writes bench/results/DATE-CPU.txt.
#
#     bench/run.sh [OPTIONS OF bench.py]      BENCH_PEERS: the Python packages (numpy is needed)
set -eu
cd "$(dirname "$0")/.."
venv=bench/.venv
peers=${BENCH_PEERS:-numpy numexpr numba jax}

cmake --preset release -DLEAT_BENCH=ON >/dev/null
cmake --build --preset release --target leat_product bench_call >/dev/null

if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv" || {
        echo "bench: Python's venv is missing; 'apt-get install python3-venv' brings it" >&2
        exit 1
    }
fi
for peer in $peers; do
    "$venv/bin/python" -c "import $peer" 2>/dev/null || "$venv/bin/python" -m pip install -q --disable-pip-version-check "$peer" ||
        echo "bench: $peer cannot be installed here" >&2
done
exec "$venv/bin/python" bench/bench.py --build build/release "$@"
