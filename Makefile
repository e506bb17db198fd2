# Short names for the usual commands. CMake builds; CMakePresets.json lists the kinds of build.
PREFIX ?= /usr/local
CLANG_FORMAT ?= clang-format

all:
	@tools/setup.sh build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target leat_product

demo: all
	@tools/setup.sh demo
	@tools/demo.sh

# all tests; takes less than a quarter of an hour on two cores
check:
	@tools/setup.sh check
	@tools/check.sh

bench: all
	@bench/run.sh

# These need a GPU, except gpu-packages: it downloads, on another machine, packages for a GPU machine without network access.
gpu-check:
	@tools/gpu_check.sh

gpu-bench:
	@bench/gpu/run.sh

gpu-findings:
	@bench/gpu/findings.sh

gpu-packages: wheel
	@tools/fetch_packages.sh

# runs each fuzzer for FUZZ_SECONDS
fuzz:
	@tools/setup.sh check
	@tools/fuzz.sh $${FUZZ_SECONDS:-3600}

# measures every f32 input of each unary function, and writes the table of worst errors
ulp: all
	@cmake --build --preset release --target ulp
	@tools/ulp.sh

# dist/leat-*.whl, for pip
wheel:
	@tools/setup.sh wheel
	@tools/wheel.sh

install: all
	@cmake --install build/release --prefix $(PREFIX)

# tests/floors checks the result, with clang-format 14
format:
	@git ls-files '*.c' '*.h' | xargs $(CLANG_FORMAT) -i

clean:
	@rm -rf build

.PHONY: all demo check bench gpu-check gpu-bench gpu-findings gpu-packages fuzz ulp wheel install format clean
