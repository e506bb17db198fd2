#!/bin/sh
# Installs a build into a new prefix, moves it, and builds a small C and a small C++ program against it with pkg-config and with
# CMake, each with the shared and the static library. Then checks what the shared library exports.
# usage: install.sh BUILD-FOLDER
set -eu
build=$(cd "${1:?usage: install.sh BUILD-FOLDER}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
expected="3 0.333333 0.666667 2 0.1.0"

cmake --install "$build" --prefix "$scratch/first" >"$scratch/log"
mv "$scratch/first" "$scratch/leat"
tree=$scratch/leat
PKG_CONFIG_PATH=$(dirname "$(find "$tree" -name leat.pc)")
libraries=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH
status=0
fail() { echo "install: $*" >&2 && status=1; }

# runs NAME PROGRAM: checks the output of PROGRAM
runs() {
    said=$(LD_LIBRARY_PATH=$libraries "$2" 2>&1) || true
    if [ "$said" = "$expected" ]; then echo "ok: $1"; else fail "$1 printed: $said"; fi
}

cp "$here/user.c" "$scratch/user.cpp"
cc=${CC:-cc}
cxx=${CXX:-c++}
# eval, because pkg-config quotes names of folders with spaces for the shell
eval "set -- $(pkg-config --cflags --libs leat)"
$cc -Wall -Wextra -Werror "$here/user.c" -o "$scratch/c_shared" "$@"
$cxx -Wall -Wextra -Werror "$scratch/user.cpp" -o "$scratch/cpp_shared" "$@"
eval "set -- $(pkg-config --cflags --libs --static leat | sed 's/-lleat/-l:libleat.a/')"
$cc "$here/user.c" -o "$scratch/c_static" "$@"
$cxx "$scratch/user.cpp" -o "$scratch/cpp_static" "$@"
for kind in c_shared cpp_shared c_static cpp_static; do runs "pkg-config $kind" "$scratch/$kind"; done

cmake -S "$here" -B "$scratch/user" -DCMAKE_PREFIX_PATH="$tree" >"$scratch/log" 2>&1 && cmake --build "$scratch/user" >>"$scratch/log" 2>&1 ||
    { cat "$scratch/log" && fail "the CMake project does not build"; }
for kind in c_leat cpp_leat c_static cpp_static; do runs "CMake $kind" "$scratch/user/$kind"; done

# The README's example must be examples/share.c. Each example is copied to a folder of its own, built by the command in its first
# comment, and run there.
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$here/../../README.md" >"$scratch/readme.c"
sed '1,/^ \*\/$/d' "$here/../../examples/share.c" | diff "$scratch/readme.c" - >"$scratch/difference" ||
    { cat "$scratch/difference" && fail "README's example is not examples/share.c"; }
cp -r "$here/../../examples" "$scratch/examples"
export LD_LIBRARY_PATH="$libraries"
# example FOLDER NAME ARGUMENTS...: builds NAME.c by the command in its first comment, and runs it; its output is in said
example() (
    cd "$scratch/examples/$1" && name=$2 && shift 2
    line=$(sed -n 's/^ \*  *cc \(.*\)/\1/p' "$name.c" | sed 's/ && .*//')
    eval "$cc -Wall -Wextra -Werror $line" && "./$name" "$@" >"$scratch/said" 2>&1
)
example . share && [ "$(cat "$scratch/said")" = "0.125 0.25 0.625" ] && echo "ok: examples/share.c" || fail "examples/share.c"
# the other examples need sim's compiler
if printf 'extern "C" __global__ void k(int *p) { *p = 1; }\n' >"$scratch/k.cu" &&
    "$tree/bin/leat" launch "$scratch/k.cu:k" --grid 1 --block 1 p='i32[1]' --device sim >/dev/null 2>&1; then
    for program in "matmul n=8" "normalise n=2000 arrays=2 repeat=1"; do
        example cuda $program device=sim && echo "ok: examples/cuda: $program" ||
            { cat "$scratch/said" && fail "examples/cuda: $program"; }
    done
fi

# the shared library has the right SONAME and exports exactly what leat.h declares
readelf -d "$libraries/libleat.so" | grep -q 'SONAME.*\[libleat\.so\.0\]' || fail "SONAME is not libleat.so.0"
nm -D --defined-only "$libraries/libleat.so" | awk '{ print $3 }' | sort >"$scratch/exported"
sed -n 's/^LEAT_API .*[ *]\(leat_[a-z0-9_]*\)(.*/\1/p' "$tree/include/leat.h" | sort >"$scratch/declared"
diff "$scratch/declared" "$scratch/exported" >"$scratch/difference" || { cat "$scratch/difference" && fail "declared and exported differ"; }
nm -g --defined-only "$libraries/libleat.a" | awk 'NF == 3 && $3 !~ /^(le|leat)_/ { print $3 }' >"$scratch/foreign"
[ ! -s "$scratch/foreign" ] || { cat "$scratch/foreign" && fail "names in libleat.a that are not Leat's"; }

case $("$tree/bin/leat" --version) in *0.1.0*) echo "ok: leat --version" ;; *) fail "leat --version" ;; esac
[ -f "$tree/share/bash-completion/completions/leat" ] || fail "no completion"
if command -v scdoc >/dev/null 2>&1; then
    for page in "$here"/../../man/*.1.scd; do
        [ -s "$tree/share/man/man1/$(basename "$page" .scd)" ] || fail "no manual page of $page"
    done
fi
exit $status
