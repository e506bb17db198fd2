#!/bin/sh
# The demo: runs programs of examples/ on real data. Prints each program, its command and what it cost.
#
#     tools/demo.sh [DEM.npz]        LEAT=path/of/the/command (build/release/leat)
#
# Writes pictures and arrays to build/demo/. The elevation model comes with Debian's package python-matplotlib-data (part of
# matplotlib, under matplotlib's licence, which follows the PSF's: /usr/share/doc/python-matplotlib-data/copyright).
set -eu
cd "$(dirname "$0")/.."
leat=${LEAT:-build/release/leat}
dem=${1:-/usr/share/matplotlib/mpl-data/sample_data/jacksboro_fault_dem.npz}
to=build/demo

if [ ! -x "$leat" ]; then
    echo "demo: no command at $leat; build it with 'make'" >&2
    exit 1
fi
if [ ! -r "$dem" ]; then
    echo "demo: no elevation model at $dem; install it with 'apt-get install python-matplotlib-data'" >&2
    exit 1
fi
mkdir -p "$to"

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    strong=$(printf '\033[1m') pale=$(printf '\033[2m') plain=$(printf '\033[0m')
else
    strong='' pale='' plain=''
fi

title() {
    printf '\n%s== %s%s\n\n' "$strong" "$1" "$plain"
}

# run PROGRAM ARGUMENTS...: prints the program and the command, then runs it.
run() {
    program=examples/$1.leat
    shift
    sed "s/^/    /; s/^    \(#.*\)$/    $pale\1$plain/" "$program"
    printf '\n%s$ leat run %s %s%s\n' "$strong" "$program" "$*" "$plain"
    "$leat" run "$program" "$@" 2>&1
}

title "A measured elevation model: the Jacksboro fault in Tennessee, heights in metres"
printf 'from %s\n(Debian package python-matplotlib-data, under the licence of matplotlib)\n' "$dem"

title "1. Lit by the sun from the north-west"
run hillshade "z=$dem:elevation" -o "image=$to/hillshade.png" --explain

title "2. Smoothed, then lit again"
run smooth "z=$dem:elevation" r=6 -o "soft=$to/soft.npy" --explain
printf '\n%s$ leat run examples/hillshade.leat z=%s -o image=%s%s\n' "$strong" "$to/soft.npy" "$to/soft.png" "$plain"
"$leat" run examples/hillshade.leat "z=$to/soft.npy" -o "image=$to/soft.png" 2>&1

title "3. The distribution of heights"
run histogram "z=$dem:elevation" -o "counts=$to/counts.npy" -o "picture=$to/histogram.png" --explain

title "4. Normalised to 0..1, and with equal areas for all heights"
run normalise "z=$dem:elevation" -o "unit=$to/unit.npy" -o "even=$to/even.png" --explain
printf '\n%s$ leat run -e "view[y,x] = unit[y,x]" unit=%s -o view=%s --colormap viridis%s\n' \
    "$strong" "$to/unit.npy" "$to/heights.png" "$plain"
"$leat" run -e 'view[y,x] = unit[y,x]' "unit=$to/unit.npy" -o "view=$to/heights.png" --colormap viridis 2>&1

title "5. Two million payments discounted: (100, 4000, 5) in f64"
run discount_inputs -o "mul=$to/mul.npy" -o "disc=$to/disc.npy" --explain
printf '\n'
run discount "mul=$to/mul.npy" "disc=$to/disc.npy" -o "cv=$to/cv.npy" --repeat 11 --explain
printf '\n%s$ leat run -e "present[j] = sum(t, i: cv[t,i,j])" cv=%s -o present%s\n' "$strong" "$to/cv.npy" "$plain"
"$leat" run -e 'present[j] = sum(t, i: cv[t,i,j])' "cv=$to/cv.npy" -o present 2>&1

title "Written to $to/"
ls -l "$to"
