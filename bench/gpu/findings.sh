#!/bin/sh
# `make gpu-findings`: measures what tracing costs and whether traced programs run as untraced ones do (tracing.py), then compares the
# gains that findings predict with the actual ones (findings.py). Needs a GPU and CUPTI, and uses those of CuPy, Numba, PyTorch and JAX
# that are installed.
# Writes bench/results/DATE-gpu-findings.txt (or $BENCH_TO/gpu-findings.txt, figures in .jsonl).
#
#     bench/gpu/findings.sh [OPTIONS OF findings.py]      GPU_FINDINGS: all, tracing, variants or pairs; GPU_KEEP: a folder for the traces
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
python=${PYTHON:-python3}
parts=${GPU_FINDINGS:-all}
set -- --build "$build" ${GPU_KEEP:+--keep "$GPU_KEEP"} "$@"
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1
    uname -sr
    [ "$parts" != variants ] || "$python" bench/gpu/tracing.py --build "$build" --only variants || echo "FAILED"
    [ "$parts" = pairs ] || [ "$parts" = variants ] || "$python" bench/gpu/tracing.py --build "$build" ${GPU_KEEP:+--keep "$GPU_KEEP"} || echo "FAILED"
    [ "$parts" = tracing ] || [ "$parts" = variants ] || "$python" bench/gpu/findings.py --json "${BENCH_TO:-$build}/gpu-findings.jsonl" "$@" || echo "FAILED"
} 2>&1 | tee "$to"
! grep -q FAILED "$to"
