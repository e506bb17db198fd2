#!/bin/sh
# `make gpu-packages`: downloads Debian's packages of the libraries that the build needs into .packages/, for a GPU machine without
# network access. Copy the working tree there with that folder, and `make gpu-check` finds them.
set -eu
mkdir -p "$(dirname "$0")/../.packages"
cd "$(dirname "$0")/../.packages"
apt-get download libsleef-dev libsleef3 libpng-dev libpng16-16 zlib1g-dev libcmocka-dev libcmocka0 \
    pkgconf pkgconf-bin libpkgconf3
ls -sh
