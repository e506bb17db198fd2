#!/bin/sh
# `make gpu-findings`: what findings predict beside what following them gains. Needs a GPU, CUPTI, and those of CuPy, Numba, PyTorch
# and JAX that are to take part. Writes bench/results/DATE-gpu-findings.txt (or $BENCH_TO/gpu-findings.txt, figures in .jsonl).
#
#     bench/gpu/findings.sh [OPTIONS OF findings.py]
set -eu
cd "$(dirname "$0")/../.."
. tools/packages.sh
build=${GPU_BUILD:-build/gpu}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF >/dev/null
cmake --build "$build" --target leat_product >/dev/null
command -v nvidia-smi >/dev/null 2>&1 || {
    echo "gpu-findings: no nvidia-smi, and so no GPU" >&2
    exit 1
}
to=${BENCH_TO:+$BENCH_TO/gpu-findings.txt}
to=${to:-bench/results/$(date +%Y-%m-%d)-gpu-findings.txt}
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1
    "${PYTHON:-python3}" bench/gpu/findings.py --build "$build" --json "${BENCH_TO:-$build}/gpu-findings.jsonl" "$@" || echo "FAILED"
} | tee "$to"
! grep -q FAILED "$to"
