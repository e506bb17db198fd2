#!/bin/sh
# `make gpu-bench`: compares Leat on a GPU with the driver and Numba, then its programs, then its Python package with CuPy, Numba,
# PyTorch and JAX, each in one run. Needs a GPU, and builds what it needs. The Python package is the wheel in .packages/wheels or dist.
# Writes bench/results/DATE-GPU.txt, DATE-gpu-programs.txt and DATE-gpu-python.txt (or $BENCH_TO/gpu-bench.txt, gpu-programs.txt and
# gpu-python.txt, with figures in .jsonl).
#
#     bench/gpu/run.sh [OPTIONS OF programs.py, python_calls.py OR general.py]      GPU_BENCH: driver, programs, python, or all,
#     whose options are those of programs.py; general, which `all` leaves out because it takes over an hour
#
# GPU_BENCH=general measures a shard: GENERAL_SHARD=1/8 is the first of eight, of about eight minutes each. Shards on one machine add to
# the same DATE-gpu-general.txt, through build/gpu/gpu-general.jsonl, which a later one replaces line by line. With $BENCH_TO each
# leaves gpu-general-1-of-8.jsonl there; `general.py --report FILES` makes one table of them.
set -eu
cd "$(dirname "$0")/../.."
. tools/packages.sh
build=${GPU_BUILD:-build/gpu}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DLEAT_BENCH=ON -DLEAT_EXAMPLES=ON -DBUILD_TESTING=OFF >/dev/null
cmake --build "$build" --target leat_product bench_gpu bench_gpu_calls example_normalise example_matmul >/dev/null

if ! command -v nvidia-smi >/dev/null 2>&1; then
    echo "gpu-bench: no nvidia-smi, and so no GPU" >&2
    exit 1
fi
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
slug=$(echo "$gpu" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
to=${BENCH_TO:+$BENCH_TO/gpu-bench.txt}
to=${to:-bench/results/$(date +%Y-%m-%d)-$slug.txt}
python=${PYTHON:-python3}
parts=${GPU_BENCH:-all}

# wanted PART
wanted() { [ "$parts" = all ] || [ "$parts" = "$1" ]; }

! wanted driver || {
    echo "$(date +%Y-%m-%d), $gpu, driver $driver, $(nproc) cores"
    echo
    echo "== leat devices"
    for k in 1 2 3; do
        start=$(date +%s%N)
        "$build/leat" devices >"$build/devices.txt"
        echo "took $((($(date +%s%N) - start) / 1000000)) ms"
    done
    cat "$build/devices.txt"
    echo
    echo "== what Leat adds to the driver"
    "$build/bench/bench_gpu"
    echo
    echo "== ten arrays of 40 MB: up, three kernels, down"
    for memory in pinned host; do "$build/examples/normalise" device=cuda memory=$memory; done
    "$python" bench/gpu/peers.py || echo "numba: not here"
    echo
    echo "== a tiled product: naive host timing beside the ledger"
    "$build/examples/matmul" device=cuda
} 2>&1 | tee "$to"

to=${BENCH_TO:+$BENCH_TO/gpu-programs.txt}
to=${to:-bench/results/$(date +%Y-%m-%d)-gpu-programs.txt}
! wanted programs || "$python" bench/gpu/programs.py --build "$build" --json "${BENCH_TO:-$build}/gpu-programs.jsonl" "$@" | tee "$to"

if [ "$parts" = general ]; then
    shard=${GENERAL_SHARD:-1/1}
    lines=${BENCH_TO:+$BENCH_TO/gpu-general-$(echo "$shard" | sed 's:/:-of-:').jsonl}
    lines=${lines:-$build/gpu-general.jsonl}
    to=${BENCH_TO:+${lines%.jsonl}.txt}
    to=${to:-bench/results/$(date +%Y-%m-%d)-gpu-general.txt}
    "$python" bench/gpu/general.py --build "$build" --json "$lines" --to "$to" "$@"
fi

wanted python || exit 0
wheel=
for file in .packages/wheels/leat-*.whl dist/leat-*.whl; do
    [ -n "$wheel" ] || [ ! -e "$file" ] || wheel=$file
done
if [ -z "$wheel" ]; then
    echo "gpu-bench: python: skipped, no wheel in .packages/wheels or dist (make gpu-packages, or make wheel)" >&2
    [ "$parts" = all ]
    exit
fi
package=$build/python_bench
rm -rf "$package"
"$python" -m pip install -q --disable-pip-version-check --no-index --no-deps --target "$package" "$wheel"
to=${BENCH_TO:+$BENCH_TO/gpu-python.txt}
to=${to:-bench/results/$(date +%Y-%m-%d)-gpu-python.txt}
[ "$parts" = python ] || set --
"$python" bench/gpu/python_calls.py --package "$package" --command "$build/leat" --json "${BENCH_TO:-$build}/gpu-python.jsonl" "$@" | tee "$to"
