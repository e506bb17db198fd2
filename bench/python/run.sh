#!/bin/sh
# `make bench-python`: measures calls from Python beside the C call, numexpr, Numba, JAX and NumPy in one run, and `import leat`. Uses the
# wheel in dist/, which it makes if there is none or if the sources have changed since, in a virtual environment in build/. Peers that
# cannot be installed are shown as '-'. Writes bench/results/DATE-python-CPU.txt.
#
#     bench/python/run.sh [OPTIONS OF calls.py]      PYTHON: the interpreter, 3.11 or later
set -eu
cd "$(dirname "$0")/../.."
home=build/bench_python
python=${PYTHON:-python3}

wheel=$(echo dist/leat-*.whl)
if [ ! -e "$wheel" ] || [ -n "$(find src include python cmake CMakeLists.txt -newer "$wheel" -type f | head -1)" ]; then
    make wheel
    wheel=$(echo dist/leat-*.whl)
fi
cmake --preset release -DLEAT_BENCH=ON >/dev/null
cmake --build --preset release --target bench_python_call >/dev/null

install() { "$home/bin/python" -m pip install -q --disable-pip-version-check "$@"; }
if ! cmp -s bench/python/requirements.txt "$home/installed.txt"; then
    rm -rf "$home"
    "$python" -m venv "$home" || {
        echo "bench-python: Python's venv is missing; 'apt-get install python3-venv' brings it" >&2
        exit 1
    }
    grep -v '^#' bench/python/requirements.txt | while read -r peer; do
        install "$peer" || echo "bench-python: $peer cannot be installed here" >&2
    done
    cp bench/python/requirements.txt "$home/installed.txt"
fi
install --force-reinstall --no-deps "$wheel"
exec "$home/bin/python" bench/python/calls.py --library build/release/bench/bench_python_call.so "$@"
