#!/bin/sh
# Installs missing Debian packages, and prints their names. Argument: build (the library and the command), demo, wheel or check.
# libopenblas0-pthread is optional and makes matrix products faster; several threads cannot call the serial OpenBLAS at the same time.
# Needs root or sudo only if a package is missing. On other systems it prints what to install and continues.
set -eu
packages="gcc libc6-dev pkg-config cmake ninja-build libsleef-dev zlib1g-dev libpng-dev scdoc"
case "${1:-build}" in
build) ;;
demo) packages="$packages python-matplotlib-data libopenblas0-pthread" ;;
wheel) packages="$packages binutils python3-dev python3-venv" ;;
check) packages="$packages python3-dev python3-venv libcmocka-dev libopenblas0-pthread g++ clang libclang-rt-14-dev binutils" ;;
*)
    echo "usage: tools/setup.sh build|demo|wheel|check" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    for tool in cc pkg-config cmake ninja; do
        command -v "$tool" >/dev/null 2>&1 || echo "setup: $tool is not installed; the Debian packages are: $packages" >&2
    done
    exit 0
fi
missing=""
for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "setup: install these packages first (as root):$missing" >&2
        exit 1
    }
    as_root=sudo
fi
echo "setup: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
install() { $as_root apt-get install -y -qq --no-install-recommends $missing >&2; }
install || { $as_root apt-get update -qq >&2 && install; }
