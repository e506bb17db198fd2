#!/bin/sh
# Compiles cuda_headers.c against a toolkit's headers, which checks that Leat's declarations match cuda.h, nvrtc.h and cublas_v2.h. An
# error of each kind in a copy of the tables must not compile. Exit status 77 if there is no toolkit. usage: cuda_headers.sh [SOURCE-FOLDER]
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "${1:-$here/../..}" && pwd) || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
headers=
for folder in "${CUDA_PATH:+$CUDA_PATH/include}" /usr/local/cuda/include; do
    [ -z "$headers" ] && [ -n "$folder" ] && [ -f "$folder/cuda.h" ] && [ -f "$folder/cudaTypedefs.h" ] && [ -f "$folder/nvrtc.h" ] &&
        headers=$folder
done
[ -n "$headers" ] || { echo "skipped: no cuda.h and nvrtc.h in CUDA_PATH or /usr/local/cuda" && exit 77; }
version=$(awk '/#define CUDA_VERSION/ { print $3 }' "$headers/cuda.h")

# compare SOURCES: compiles against the tables of SOURCES/device
compare() {
    # leave out functions that are newer than these headers
    awk -v most="$version" -F', ' '!/^LE_CU\(/ || $3 + 0 <= most + 0' "$1/device/driver/cuda_driver.def" >"$scratch/rows.def"
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$1" -isystem "$headers" \
        -DLE_CU_ROWS="\"$scratch/rows.def\"" "$here/cuda_headers.c" -o "$scratch/cuda_headers" >"$scratch/said" 2>&1
}
compare "$root/src" || { cat "$scratch/said" && exit 1; }
"$scratch/cuda_headers" || exit 1
left=$(($(grep -c '^LE_CU(' "$root/src/device/driver/cuda_driver.def") - $(grep -c '^LE_CU(' "$scratch/rows.def")))
[ "$left" -eq 0 ] || echo "not compared, newer than these headers: $left functions"

status=0
# breach FILE SED-COMMAND WHAT
breach() {
    rm -rf "$scratch/src" && mkdir "$scratch/src" && cp -r "$root/src/device" "$root/src/base" "$scratch/src"
    sed "$2" "$root/src/device/driver/$1" >"$scratch/src/device/driver/$1"
    cmp -s "$root/src/device/driver/$1" "$scratch/src/device/driver/$1" && echo "$3: nothing was changed" && status=1
    if compare "$scratch/src"; then
        "$scratch/cuda_headers" >/dev/null && echo "$3: not found" && status=1
    elif ! grep -Eq 'static.assert|has no member|no member named|undeclared|unknown type' "$scratch/said"; then
        echo "$3: fails for another reason" && cat "$scratch/said" && status=1
    fi
}
breach cuda_driver.h 's/CUDA_ERROR_NOT_READY, 600/CUDA_ERROR_NOT_READY, 601/' "a constant"
breach cuda_driver.h 's/X(size_t, srcY)/X(unsigned, srcY)/' "a member's size"
breach cuda_driver.h 's/X(size_t, Height)/X(size_t, Width)/' "a member's name"
breach cuda_driver.h 's/typedef int le_cu_result/typedef long le_cu_result/' "a type's size"
breach cuda_driver.h 's/uint64_t flags, le_cu_proc/uint32_t flags, le_cu_proc/' "the parameter of an entry"
breach cuda_driver.def 's/void \*\*parameters, void \*\*extra/void **parameters/' "a parameter too few"
breach cuda_driver.def 's/(le_cu_device_attribute attribute/(int attribute/; s/value, le_cu_device_attribute/value, int/' "a parameter's type"
breach cuda_driver.def 's/"cuMemAlloc", 3020/"cuMemAlloc", 2000/' "the version before"
breach cuda_driver.def 's/"cuStreamQuery"/"cuStreamSynchronize"/' "a symbol"
breach nvrtc.h 's/(le_nvrtc_program program, char \*log)/(le_nvrtc_program program, const char *log)/' "a parameter of NVRTC"
breach nvrtc.h 's/NVRTC_ERROR_COMPILATION, 6/NVRTC_ERROR_COMPILATION, 7/' "a constant of NVRTC"
if [ -f "$headers/cublas_v2.h" ]; then
    breach cublas.h 's/const T \*b, int ldb/T *b, int ldb/' "a parameter of cuBLAS"
    breach cublas.h 's/CUBLAS_OP_T, 1/CUBLAS_OP_T, 2/' "a constant of cuBLAS"
    breach cublas.h 's/cublasSetWorkspace_v2/cublasSetStream_v2/' "a symbol of cuBLAS"
fi
exit $status
