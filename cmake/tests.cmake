# Each src/**/NAME_test.c and tests/api/NAME.c is a cmocka program, linked to the static library, and one test.
# The builds below the source's build folder share the kernels that are compiled for sim.
cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE leat_builds_inside)
set(leat_test_cache "${CMAKE_CURRENT_BINARY_DIR}/cache")
if(leat_builds_inside)
  set(leat_test_cache "${PROJECT_SOURCE_DIR}/build/cache")
endif()
set(leat_test_environment "LEAT_DEVICE=" "LEAT_THREADS=2" "LEAT_CACHE_DIR=${leat_test_cache}"
    "UBSAN_OPTIONS=print_stacktrace=1" "TSAN_OPTIONS=halt_on_error=1")

# Test code runs once, so optimising it fully costs more time than it saves, except in tests that compute a lot.
function(leat_program target)
  add_executable(${target} ${ARGN})
  if(target MATCHES "^(test_device_cpu_machine_ops_.*|test_array_view|ulp)$")
    set(level ${LEAT_SANITIZE_LOOPS})
  elseif(LEAT_SANITIZE)
    set(level -O0)
  elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(level -Og)
  endif()
  target_compile_options(${target} PRIVATE ${level})
  target_link_libraries(${target} PRIVATE leat_flags leat_ir_reader leat_static PkgConfig::SLEEF PkgConfig::CMOCKA)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests)
endfunction()
include(${CMAKE_CURRENT_LIST_DIR}/ir_reader.cmake)

function(leat_test name)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1500 ENVIRONMENT "${leat_test_environment}")
endfunction()

file(GLOB_RECURSE unit_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_test.c)
foreach(source ${unit_tests})
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE name)
  string(REGEX REPLACE "_test\\.c$" "" name ${name})
  string(REPLACE "/" "_" target ${name})
  leat_program(test_${target} ${source})
  if(name MATCHES "^cli/")
    target_link_libraries(test_${target} PRIVATE leat_command_parts)
  endif()
  leat_test(${name} test_${target})
endforeach()

file(GLOB api_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/api/*.c)
foreach(source ${api_tests})
  get_filename_component(name ${source} NAME_WE)
  leat_program(test_api_${name} ${source})
  leat_test(tests/api/${name} test_api_${name})
  set_tests_properties(tests/api/${name} PROPERTIES SKIP_RETURN_CODE 77) # if sim has no compiler
endforeach()

# The device suites: the same tests on each device. cuda is skipped without a GPU. If a suite has a transcript (NAME.txt), its output is
# compared with it.
file(GLOB device_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/device/*.c)
foreach(source ${device_tests})
  get_filename_component(name ${source} NAME_WE)
  leat_program(test_device_suite_${name} ${source})
  foreach(device cpu sim cuda)
    if(EXISTS ${PROJECT_SOURCE_DIR}/tests/device/${name}.txt)
      leat_test(tests/device/${name}/${device} tests/device/compare.sh $<TARGET_FILE:test_device_suite_${name}> ${device}
                tests/device/${name}.txt)
    else()
      leat_test(tests/device/${name}/${device} test_device_suite_${name} ${device})
    endif()
    set_tests_properties(tests/device/${name}/${device} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endforeach()

# The house rules, and the installed tree. Tests with the label `once` are not repeated with sanitizers.
foreach(rule includes headers names lengths columns format calls tags documents)
  leat_test(tests/floors/${rule} tests/floors/floors.sh ${rule})
  set_tests_properties(tests/floors/${rule} PROPERTIES LABELS once SKIP_RETURN_CODE 77)
endforeach()
leat_test(tests/floors/breaches tests/floors/breaches.sh)
set_tests_properties(tests/floors/breaches PROPERTIES LABELS once)
if(NOT CMAKE_CROSSCOMPILING)
  leat_test(tests/install tests/install/install.sh ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(tests/install PROPERTIES LABELS once)
endif()

# The GPU benchmark's programs compute what NumPy does.
leat_test(tests/bench/general tests/bench/general.sh ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(tests/bench/general PROPERTIES LABELS once SKIP_RETURN_CODE 77)

leat_test(tests/examples tests/examples/examples.sh ${CMAKE_CURRENT_BINARY_DIR}/examples)
set_tests_properties(tests/examples PROPERTIES LABELS once)

find_program(LEAT_CXX NAMES $ENV{CXX} c++ g++ clang++) # sim compiles CUDA C with it

# Programs with expected results, as text. Each file is one test. Sanitizer builds run every fourth program.
set(programs_here "")
if(LEAT_SANITIZE)
  set(programs_here --only 0/4)
endif()
leat_program(run_programs ${PROJECT_SOURCE_DIR}/tests/programs/run_programs.c ${PROJECT_SOURCE_DIR}/tests/programs/kernel_texts.c)
target_link_libraries(run_programs PRIVATE m)
file(GLOB program_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/programs/*.txt)
foreach(cases ${program_files})
  get_filename_component(name ${cases} NAME_WE)
  leat_test(tests/programs/${name} run_programs ${programs_here} ${cases})
  if(name MATCHES "^contractions") # also with Leat's own kernels
    leat_test(tests/programs/${name}_own run_programs ${programs_here} ${cases})
    set_property(TEST tests/programs/${name}_own APPEND PROPERTY ENVIRONMENT "LEAT_BLAS=none")
  endif()
  if(name MATCHES "^(contractions|products_(large|three))") # also with a BLAS that is asked for, on machines that have it
    leat_test(tests/programs/${name}_blas run_programs ${programs_here} ${cases})
    set_property(TEST tests/programs/${name}_blas APPEND PROPERTY ENVIRONMENT "LEAT_BLAS=libopenblas.so.0")
    set_tests_properties(tests/programs/${name}_blas PROPERTIES LABELS once)
  endif()
endforeach()

# Slow with sanitizers, and covering no code that smaller tests do not cover.
set_tests_properties(tests/programs/products_large tests/programs/products_half tests/programs/products_orders tests/programs/products_three
                     tests/programs/contractions_own tests/programs/large
                     tests/api/device_results tests/api/lengths tests/device/canceling/sim tests/device/endings/sim tests/device/code/sim
                     device/cpu/machine/ops_scan sim/grid/sim_planted PROPERTIES LABELS once)

# These compile several hundred kernels for sim.
foreach(name mapping/border device_code mapping/group_reduce interpreter/interpreter mapping/map mapping/map_window mapping/private_scatter
             mapping/reuse mapping/group_chain cuda/reduce_pieces mapping/scan_kernel mapping/unroll_jam)
  set_tests_properties(gen/${name} PROPERTIES LABELS once)
endforeach()

# The same programs on devices. On sim, the host's compiler takes about 0.3 s for a new kernel, so the suite runs only some of the
# programs; LEAT_SIM_PART=1 runs all of them. cuda is skipped without a GPU.
set(LEAT_SIM_PART 512 CACHE STRING "tests run one in this many of the programs on sim")
foreach(part 0 1)
  math(EXPR first "${part} * ${LEAT_SIM_PART} / 2")
  set(parts ${LEAT_SIM_PART})
  if(LEAT_SIM_PART EQUAL 1)
    set(first ${part})
    set(parts 2)
  endif()
  leat_test(tests/programs/sim_${part} run_programs --device sim --only ${first}/${parts} ${program_files})
  set_tests_properties(tests/programs/sim_${part} PROPERTIES LABELS once)
  if(NOT LEAT_CXX)
    set_tests_properties(tests/programs/sim_${part} PROPERTIES DISABLED ON)
  endif()
endforeach()
set_property(TEST tests/programs/sim_1 APPEND PROPERTY ENVIRONMENT LEAT_SIM_MULTIPROCESSORS=132) # the kernels that an H100 gets
# One in some of a file's programs, with the kernels of an H100. Of products_orders one takes seconds: sim's library computes it.
foreach(file_and_part gathered_rows:1/8 norms:1/9 products_orders:2/14)
  string(REGEX MATCH "(.*):(.*)" part ${file_and_part})
  leat_test(tests/programs/sim_${CMAKE_MATCH_1} run_programs --device sim --only ${CMAKE_MATCH_2}
            ${PROJECT_SOURCE_DIR}/tests/programs/${CMAKE_MATCH_1}.txt)
  set_property(TEST tests/programs/sim_${CMAKE_MATCH_1} APPEND PROPERTY ENVIRONMENT LEAT_SIM_MULTIPROCESSORS=132)
  set_tests_properties(tests/programs/sim_${CMAKE_MATCH_1} PROPERTIES LABELS once)
  if(NOT LEAT_CXX)
    set_tests_properties(tests/programs/sim_${CMAKE_MATCH_1} PROPERTIES DISABLED ON)
  endif()
endforeach()
# The texts of kernels: read back, verified and printed as CUDA C. Without --only: of all programs.
leat_test(tests/programs/kernel_texts run_programs --device sim --show check --only 3/40 ${program_files})
# With the interpreter, where it can run the program, and sim's checks.
leat_test(tests/programs/sim_interpreted run_programs --device sim --interpret only --only 60/384 ${program_files})
set_tests_properties(tests/programs/sim_interpreted PROPERTIES LABELS once ENVIRONMENT LEAT_SIM_CHECK=1)
if(NOT LEAT_CXX)
  set_tests_properties(tests/programs/sim_interpreted PROPERTIES DISABLED ON)
endif()
# Mappings where they fit: the results are the same. The mapping's text and the first file name the test.
function(leat_mapping_test mapping part first)
  string(REGEX REPLACE "[ =]+" "_" name "${mapping}_${first}")
  string(REGEX REPLACE "[.]txt$" "" name ${name})
  set(files ${first} ${ARGN})
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/tests/programs/")
  leat_test(tests/programs/mapping_${name} run_programs --device sim --only ${part} ${files})
  set_property(TEST tests/programs/mapping_${name} APPEND PROPERTY ENVIRONMENT "LEAT_MAPPING=${mapping}")
  set_tests_properties(tests/programs/mapping_${name} PROPERTIES LABELS once)
  if(NOT LEAT_CXX)
    set_tests_properties(tests/programs/mapping_${name} PROPERTIES DISABLED ON)
  endif()
endfunction()
foreach(mapping "grid" "block threads=64" "warp" "columns chunk=64") # of any number of terms, also none
  leat_mapping_test(${mapping} 1/40 reductions_empty.txt reductions_first.txt)
endforeach()
foreach(mapping "grid" "block threads=64" "warp" "columns parts=8 chunk=128" "loop") # sums with reuse
  leat_mapping_test(${mapping} 3/60 chains.txt)
endforeach()
foreach(mapping "reuse" "reuse across=16 rows=2 columns=2 depth=4")
  leat_mapping_test(${mapping} 2/40 reuse.txt distances.txt tiles.txt)
endforeach()
foreach(mapping "columns chunk=64" "columns parts=4 chunk=64" "lanes" "block kept=1") # several columns of a thread; rows
  leat_mapping_test(${mapping} 4/24 reductions_narrow.txt)
endforeach()
foreach(mapping "warp" "block threads=64") # rows of different lengths
  leat_mapping_test(${mapping} 1/8 ragged.txt)
endforeach()
leat_mapping_test("columns parts=8 chunk=64" 5/48 chains_of_reductions.txt reductions_first.txt)
leat_mapping_test("rows strip=4 cluster=2" 2/16 chains_of_reductions.txt norms.txt)
foreach(mapping "window columns=4 rows=4" "window columns=2 rows=8" "window columns=1 rows=16" "window columns=2 rows=1")
  leat_mapping_test(${mapping} 3/20 windows.txt windows_walks.txt windows_totals.txt)
endforeach()
leat_mapping_test("window columns=2 rows=1" 1/8 windows_across.txt)
leat_mapping_test("window columns=4 rows=4" 2/8 windows_across.txt)
foreach(mapping "scan-loop" "scan-columns warps=2" "scan-lanes lanes=32" "scan-block threads=64" "scan-tiles")
  leat_mapping_test(${mapping} 3/120 scans.txt)
endforeach()
foreach(mapping "scatter-private copies=2" "scatter-blocks" "scatter-loop")
  leat_mapping_test(${mapping} 1/9 scatters.txt zeros.txt)
endforeach()
leat_mapping_test("each-loop" 1/6 each_stores.txt zeros.txt)
foreach(part RANGE 15)
  leat_test(tests/programs/cuda_interpreted_${part} run_programs --device cuda --interpret only --only ${part}/16 ${program_files})
  set_tests_properties(tests/programs/cuda_interpreted_${part} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()
foreach(part RANGE 63)
  leat_test(tests/programs/cuda_${part} run_programs --device cuda --only ${part}/64 ${program_files})
  set_tests_properties(tests/programs/cuda_${part} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()
# With LEAT_BITS=portable products, too, have the CPU's bits.
list(FILTER program_files INCLUDE REGEX "/(contractions|products|dots|chains)[^/]*[.]txt$")
leat_test(tests/programs/sim_portable run_programs --device sim --only 3/90 ${program_files})
set_tests_properties(tests/programs/sim_portable PROPERTIES LABELS once)
if(NOT LEAT_CXX)
  set_tests_properties(tests/programs/sim_portable PROPERTIES DISABLED ON)
endif()
foreach(part RANGE 7)
  leat_test(tests/programs/cuda_portable_${part} run_programs --device cuda --only ${part}/8 ${program_files})
  set_tests_properties(tests/programs/cuda_portable_${part} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()
get_property(portable DIRECTORY PROPERTY TESTS)
list(FILTER portable INCLUDE REGEX "_portable")
set_property(TEST ${portable} APPEND PROPERTY ENVIRONMENT LEAT_BITS=portable)

# Compiles some of the programs' kernels with NVRTC for several architectures. tests/kernels/kernels.sh BUILD all compiles all of them,
# and writes its table.
leat_program(kernel_table ${PROJECT_SOURCE_DIR}/tests/kernels/kernel_table.c)
leat_test(tests/kernels tests/kernels/kernels.sh ${CMAKE_CURRENT_BINARY_DIR}/tests)
set_tests_properties(tests/kernels PROPERTIES LABELS once SKIP_RETURN_CODE 77)

# Makes allocations and calls on files fail, one at a time; `faults all` leaves none out.
leat_program(faults ${PROJECT_SOURCE_DIR}/tests/faults/faults.c ${PROJECT_SOURCE_DIR}/tests/faults/file_calls.c)
foreach(call dup fdopendir fopen fread fstat fsync futimens fwrite linkat lseek memfd_create mkdir mkdtemp mmap open openat pread pwrite read rename renameat stat write)
  target_link_options(faults PRIVATE -Wl,--wrap=${call})
endforeach()
target_link_libraries(faults PRIVATE Threads::Threads)
leat_test(tests/faults faults)

# Makes calls of the driver, NVRTC and cuBLAS fail, one at a time, while programs run on sim; `driver_faults all` leaves none out.
leat_program(driver_faults ${PROJECT_SOURCE_DIR}/tests/faults/driver_faults.c)
leat_test(tests/faults/driver driver_faults)
leat_test(tests/faults/driver_interpreted driver_faults)
set_tests_properties(tests/faults/driver_interpreted PROPERTIES ENVIRONMENT LEAT_INTERPRET=only)
set_tests_properties(tests/faults/driver tests/faults/driver_interpreted PROPERTIES SKIP_RETURN_CODE 77)
# Only sanitizers detect leaks, so make check runs these with sanitizers only.
set_tests_properties(tests/faults tests/faults/driver tests/faults/driver_interpreted PROPERTIES LABELS watched)

# These take longest. ctest starts them first, so that no core is idle at the end.
set_tests_properties(tests/faults tests/faults/driver tests/examples tests/device/code/sim tests/device/streams/sim
                     tests/device/arrays/sim gen/mapping/scan_kernel gen/mapping/group_reduce gen/mapping/reuse gen/mapping/group_chain
                     run/device/device_interpret tests/api/on_device PROPERTIES COST 100)

# Random programs: compares one thread with seven, and whole statements with parts. The long run is `random_programs 100000`.
leat_program(random_programs ${PROJECT_SOURCE_DIR}/tests/random/random_programs.c
             ${PROJECT_SOURCE_DIR}/tests/random/generator.c)
leat_test(tests/random random_programs 300)
# Random programs: compares them with an oracle that evaluates them with plain loops. The long run is `random_oracle 1000000`.
file(GLOB random_oracle_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/random/oracle_*.c
     ${PROJECT_SOURCE_DIR}/tests/random/make_*.c ${PROJECT_SOURCE_DIR}/tests/random/program_*.c)
leat_program(random_oracle ${PROJECT_SOURCE_DIR}/tests/random/random_oracle.c ${PROJECT_SOURCE_DIR}/tests/random/reducer.c
             ${PROJECT_SOURCE_DIR}/tests/random/trial.c ${random_oracle_parts})
target_link_libraries(random_oracle PRIVATE m)
set(random_oracle_count 5000)
if(LEAT_SANITIZE)
  set(random_oracle_count 1000)
endif()
leat_test(tests/random/oracle random_oracle ${random_oracle_count})
# On sim, where compiling a program that is not interpreted takes about a second.
leat_test(tests/random/oracle_sim random_oracle --interpret 18 --sim 18 180)
set_tests_properties(tests/random/oracle_sim PROPERTIES LABELS once)
set_property(TEST tests/random/oracle_sim APPEND PROPERTY ENVIRONMENT LEAT_SIM_MULTIPROCESSORS=132)
if(NOT LEAT_CXX)
  set_tests_properties(tests/random/oracle_sim PROPERTIES DISABLED ON)
endif()
# Random programs whose statements one kernel may compute: compares sim with the CPU. The long run is `random_fused 10000`.
leat_program(random_fused ${PROJECT_SOURCE_DIR}/tests/random/random_fused.c)
leat_test(tests/random/fused random_fused 10)
leat_test(tests/random/fused_square random_fused 1 8156) # a reduction along one axis, joined to elements: it was stored by all of a row
set_tests_properties(tests/random/fused tests/random/fused_square PROPERTIES LABELS once)
if(NOT LEAT_CXX)
  set_tests_properties(tests/random/fused tests/random/fused_square PROPERTIES DISABLED ON)
endif()

# Runs the fuzzers' corpora without a fuzzer.
file(GLOB fuzz_targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
foreach(source ${fuzz_targets})
  get_filename_component(target ${source} NAME_WE)
  string(REPLACE "fuzz_" "" name ${target})
  leat_program(replay_${name} ${source} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c)
  leat_test(tests/fuzz/${name} replay_${name} tests/fuzz/corpus/${name})
endforeach()

# Tests of the command's output and exit status. In a cross build a script starts the emulator.
set(command_here $<TARGET_FILE:leat_command>)
if(CMAKE_CROSSCOMPILING)
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
  set(command_here ${CMAKE_CURRENT_BINARY_DIR}/emulated/leat)
  file(GENERATE OUTPUT ${command_here} CONTENT "#!/bin/sh\nexec ${emulator} $<TARGET_FILE:leat_command> \"$@\"\n"
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()
file(GLOB command_cases CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cli/*.txt)
foreach(cases ${command_cases})
  get_filename_component(name ${cases} NAME_WE)
  leat_test(tests/cli/${name} tests/cli/run_tests.sh ${command_here} ${cases})
endforeach()
set_tests_properties(tests/cli/interrupt PROPERTIES LABELS once COST 100) # it mostly waits
if(NOT LEAT_CXX)
  set_tests_properties(tests/cli/launch PROPERTIES DISABLED ON)
endif()

# Kernels under sim's checks: kernels with a bug and the report that they must give, and correct kernels, which must give none.
file(GLOB sim_kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/sim/*/*.cu)
foreach(kernel ${sim_kernels})
  cmake_path(RELATIVE_PATH kernel BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
  string(REGEX REPLACE "\\.cu$" "" name ${name})
  leat_test(${name} tests/sim/run_sim.sh ${command_here} ${kernel})
  set_tests_properties(${name} PROPERTIES LABELS once SKIP_RETURN_CODE 77)
endforeach()

# Worst errors of the library functions: compares every 305th input with the committed table. Reference values come from glibc's vector
# functions, if there are any.
leat_program(ulp ${PROJECT_SOURCE_DIR}/tests/ulp/ulp.c ${PROJECT_SOURCE_DIR}/tests/ulp/oracle.c)
target_link_libraries(ulp PRIVATE Threads::Threads m)
find_library(MVEC_LIBRARY mvec)
if(MVEC_LIBRARY AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  target_link_libraries(ulp PRIVATE ${MVEC_LIBRARY})
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/ulp/oracle.c PROPERTIES COMPILE_OPTIONS
                              "-O3;-mavx2;-fno-trapping-math;-fno-math-errno")
endif()
set(ulp_every 305)
if(CMAKE_CROSSCOMPILING) # an emulator is slow
  set(ulp_every 6101)
endif()
leat_test(tests/ulp ulp --every ${ulp_every} --table tests/ulp/table.txt)
set_tests_properties(tests/ulp PROPERTIES LABELS once SKIP_RETURN_CODE 77 PROCESSORS 2)

# It compiles the interpreters, which takes a minute and more; tests/faults/driver_interpreted runs their code under AddressSanitizer.
set_property(TEST run/device/device_interpret APPEND PROPERTY LABELS once)

# Tests of code with several threads, which run under the thread sanitizer, and a target that builds only these.
set(thread_tests base/thread base/environment base/ledger base/store_use array/pool tests/api/sharing tests/api/results tests/api/streams tests/api/errors
    tests/api/on_device device/front/order device/front/device_pool tests/device/streams/cpu tests/device/canceling/cpu
    tests/device/one_stream/cpu tests/device/one_stream/sim
    run/opening run/compiled_code gen/generate_at_once)
set(thread_targets test_base_thread test_base_environment test_base_ledger test_base_store_use test_array_pool test_api_sharing test_api_results test_api_streams
    test_api_errors test_api_on_device test_device_front_order test_device_front_device_pool test_device_suite_streams
    test_device_suite_canceling test_device_suite_one_stream test_device_suite_one_stream test_run_opening test_run_compiled_code
    test_gen_generate_at_once)
foreach(test target IN ZIP_LISTS thread_tests thread_targets)
  if(TEST ${test})
    set_property(TEST ${test} APPEND PROPERTY LABELS threads)
    list(APPEND thread_targets_here ${target})
  endif()
endforeach()
add_custom_target(leat_thread_tests DEPENDS ${thread_targets_here})

# Compares Leat's declarations of CUDA with a real cuda.h, if one is installed.
leat_test(tests/cuda_headers tests/cuda_headers/cuda_headers.sh)
set_tests_properties(tests/cuda_headers PROPERTIES LABELS once SKIP_RETURN_CODE 77)

# Fake libraries for the test of the search for CUDA's libraries (cuda_libraries_test.c), which starts itself as the process that opens
# them.
function(leat_fake name source)
  add_library(${name} MODULE ${PROJECT_SOURCE_DIR}/tests/fake_libraries/${source}.c)
  target_link_libraries(${name} PRIVATE leat_flags)
  target_compile_definitions(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/fake_libraries)
  add_dependencies(test_device_cuda_cuda_libraries ${name})
endfunction()
leat_fake(fake_driver fake_driver FAKE_ENTRY=2)
leat_fake(fake_driver_1 fake_driver FAKE_ENTRY=1)
leat_fake(fake_driver_0 fake_driver FAKE_ENTRY=0)
leat_fake(fake_nvrtc fake_nvrtc)
leat_fake(fake_nvrtc_missing fake_nvrtc FAKE_MISSING)
leat_fake(fake_builtins fake_builtins)
leat_fake(fake_cublas fake_cublas)
leat_fake(fake_cublas_missing fake_cublas FAKE_MISSING)
leat_fake(fake_openblas fake_openblas)
set(emulator "")
if(CMAKE_CROSSCOMPILING)
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
endif()
target_compile_definitions(test_device_cuda_cuda_libraries PRIVATE FAKE_LIBRARIES="${CMAKE_CURRENT_BINARY_DIR}/tests/fake_libraries"
                                                         FAKE_LIBRARIES_EMULATOR="${emulator}")
set_property(TEST tests/cli/devices tests/cli/launch tests/cli/products APPEND PROPERTY ENVIRONMENT "FAKE_LIBRARIES=${CMAKE_CURRENT_BINARY_DIR}/tests/fake_libraries")
