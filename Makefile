# What a newcomer types. CMake does the work; CMakePresets.json has the kinds of build.
PREFIX ?= /usr/local
CLANG_FORMAT ?= clang-format

all:
	@tools/setup.sh build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target leat_product

demo: all
	@tools/setup.sh demo
	@tools/demo.sh

# everything that is tested, in under a quarter of an hour on two cores
check:
	@tools/setup.sh check
	@tools/check.sh

bench: all
	@bench/run.sh

# on a machine with a GPU; gpu-packages: elsewhere, beforehand, what such a machine cannot fetch
gpu-check:
	@tools/gpu_check.sh

gpu-bench:
	@bench/gpu/run.sh

gpu-findings:
	@bench/gpu/findings.sh

gpu-packages:
	@tools/fetch_packages.sh

# FUZZ_SECONDS for each target
fuzz:
	@tools/setup.sh check
	@tools/fuzz.sh $${FUZZ_SECONDS:-3600}

# every f32 input of each unary function: writes the table of worst errors
ulp: all
	@cmake --build --preset release --target ulp
	@tools/ulp.sh

install: all
	@cmake --install build/release --prefix $(PREFIX)

# as tests/floors checks it, with clang-format 14
format:
	@git ls-files '*.c' '*.h' | xargs $(CLANG_FORMAT) -i

clean:
	@rm -rf build

.PHONY: all demo check bench gpu-check gpu-bench gpu-findings gpu-packages fuzz ulp install format clean
