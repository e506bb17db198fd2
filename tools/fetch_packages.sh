#!/bin/sh
# `make gpu-packages`: downloads Debian's packages of the libraries that the build needs into .packages/, for a GPU machine without
# network access. Copy the working tree there with that folder, and `make gpu-check` finds them. .packages/wheels gets Leat's wheel and
# what its tests need; NumPy and the GPU libraries for Python must be there already. GPU_PYTHON: the version of Python there.
set -eu
mkdir -p "$(dirname "$0")/../.packages"
cd "$(dirname "$0")/../.packages"
apt-get download libsleef-dev libsleef3 libpng-dev libpng16-16 zlib1g-dev zlib1g libcmocka-dev libcmocka0 \
    pkgconf pkgconf-bin libpkgconf3
mkdir -p wheels
rm -f wheels/*.whl
# the versions of make check
grep -E '^(pytest|hypothesis)==' ../tests/python/requirements.txt >wheels/requirements.txt
"${PYTHON:-python3}" -m pip download --quiet --disable-pip-version-check --only-binary :all: --python-version "${GPU_PYTHON:-3.12}" --no-deps \
    --dest wheels -r wheels/requirements.txt iniconfig packaging pluggy pygments sortedcontainers
cp ../dist/leat-*.whl wheels/
ls -sh . wheels
