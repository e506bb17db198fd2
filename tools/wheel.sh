#!/bin/sh
# `make wheel`: makes the Python wheel and the source distribution in dist/, from the release build, and checks them. Needs PyPI, for the
# tools (tools/wheel_requirements.txt), which go into a virtual environment in build/wheel; `tools/wheel.sh tools` makes only that.
# PYTHON: the interpreter, 3.11 or later.
# The wheel's tag names the oldest glibc that it runs with, as auditwheel finds it: no older than the build machine's symbols.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
python=${PYTHON:-python3}
work=$root/build/wheel
mkdir -p "$work"

fail() {
    echo "wheel: $*" >&2
    exit 1
}

# quietly LOG COMMAND...: prints the output only if the command fails
quietly() {
    log=$work/$1.log
    shift
    "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        return 1
    }
}

tools() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$python is older than Python 3.11; set PYTHON"
    cmp -s tools/wheel_requirements.txt "$work/tools/installed.txt" && "$work/tools/bin/python" -c '' 2>/dev/null && return
    rm -rf "$work/tools"
    quietly venv "$python" -m venv "$work/tools" || fail "no virtual environment; Debian: python3-venv"
    quietly pip "$work/tools/bin/pip" install --no-compile --disable-pip-version-check -r tools/wheel_requirements.txt ||
        fail "cannot install the tools from PyPI; LEAT_PYTHON=OFF make check goes without the Python package"
    cp tools/wheel_requirements.txt "$work/tools/installed.txt"
}

# Builds in build/release, whose objects it shares, and leaves that folder's prefix and tests as they were. Without the file that is
# removed, scikit-build-core does not remove the objects if another virtual environment built before.
build() {
    prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' build/release/CMakeCache.txt 2>/dev/null || true)
    tests=$(sed -n 's/^BUILD_TESTING:BOOL=//p' build/release/CMakeCache.txt 2>/dev/null || true)
    rm -rf "$work/raw" "$work/dist" build/release/.skbuild-info.json
    built=yes
    quietly build "$work/tools/bin/python" -m build --wheel --no-isolation --outdir "$work/raw" -Cbuild-dir=build/release \
        -Ccmake.define.BUILD_TESTING="${tests:-ON}" || built=no
    quietly configure cmake --preset release -DCMAKE_INSTALL_PREFIX="${prefix:-/usr/local}" || built=no
    [ $built = yes ] || fail "the build failed"
    # auditwheel looks for patchelf in PATH
    PATH=$work/tools/bin:$PATH quietly repair auditwheel repair --wheel-dir "$work/dist" "$work"/raw/*.whl || fail "auditwheel failed"
    quietly sdist "$work/tools/bin/python" -m build --sdist --no-isolation --outdir "$work/dist" || fail "no source distribution"
}

check_wheel() {
    wheel=$(echo "$work"/dist/*.whl)
    case $wheel in
    *-cp311-abi3-manylinux_*) ;;
    *) fail "$wheel: not for every Python from 3.11 on, or not for other machines" ;;
    esac
    quietly show "$work/tools/bin/auditwheel" show "$wheel" || fail "auditwheel refuses it"
    quietly abi3audit "$work/tools/bin/abi3audit" --strict --report "$wheel" || fail "abi3audit refuses it"
    rm -rf "$work/content"
    "$python" -m zipfile -e "$wheel" "$work/content"
    find "$work/content" -type f | sort | while read -r file; do
        readelf -d "$file" 2>/dev/null | sed -n "s|.*(NEEDED).*\[\(.*\)\]|\1|p"
        basename "$file"
    done >"$work/libraries.txt"
    ! grep -E '^lib(crypto|ssl|zip)' "$work/libraries.txt" || fail "it contains or needs the libraries above"
    exported=$(nm -D --defined-only "$work"/content/leat/_leat.abi3.so | sed 's/.* //')
    [ "$exported" = PyInit__leat ] || fail "the extension exports $exported"
    ! nm -D --undefined-only "$work"/content/leat/_leat.abi3.so | grep -E ' le(at)?_' || fail "the extension lacks the functions above"
    for name in leat libleat_trace.so libsleef.so.3 libpng16.so.16 _leat.abi3.so __init__.py py.typed LICENSE libsleef libpng16; do
        grep -qx -- "$name" "$work/libraries.txt" || fail "it lacks $name"
    done
}

# All sources must be in the source distribution, and CMake must accept it alone.
check_source() {
    source=$(echo "$work"/dist/*.tar.gz)
    rm -rf "$work/source" && mkdir "$work/source"
    tar -xzf "$source" -C "$work/source" --strip-components=1
    git ls-files CMakeLists.txt LICENSE cmake completion include man pyproject.toml python src 2>/dev/null | while read -r file; do
        [ -e "$work/source/$file" ] || echo "$file"
    done >"$work/missing.txt"
    [ ! -s "$work/missing.txt" ] || fail "the source distribution lacks $(cat "$work/missing.txt")"
    quietly source cmake -S "$work/source" -B "$work/source/build" -G Ninja -DLEAT_PYTHON=ON -DBUILD_TESTING=OFF ||
        fail "CMake refuses the source distribution"
}

tools
[ "${1:-}" != tools ] || exit 0
build
check_wheel
check_source
mkdir -p dist
rm -f dist/leat-*
cp "$work"/dist/* dist/
ls -sh dist
