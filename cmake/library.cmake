# libleat.a, libleat.so and the command. Everything is compiled once; both libraries contain the same objects.

# Sets `out` to the sources of folders under src/, without tests.
function(leat_sources out)
  set(found "")
  foreach(folder ${ARGN})
    file(GLOB_RECURSE part CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.c)
    list(APPEND found ${part})
  endforeach()
  list(FILTER found EXCLUDE REGEX "_test\\.c$")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

leat_sources(library_sources base spec lang trace account sim ir device gen array run api)
list(FILTER library_sources EXCLUDE REGEX "/trace/recorder/") # a shared object of its own
# The simulator embeds the text that kernels are compiled with.
file(GLOB prelude_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/sim/prelude/*.inc)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/sim/compile/sim_prelude.c PROPERTIES
                            COMPILE_DEFINITIONS "LE_SIM_FOLDER=\"${PROJECT_SOURCE_DIR}/src/sim\""
                            OBJECT_DEPENDS "${prelude_files};${PROJECT_SOURCE_DIR}/src/sim/grid/sim_abi.h")
# Kernels contain pieces of these files.
file(GLOB piece_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/gen/cuda/*.cu ${PROJECT_SOURCE_DIR}/src/gen/interpreter/*.cu)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/gen/cuda/prelude.c PROPERTIES
                            COMPILE_DEFINITIONS "LE_GEN_FOLDER=\"${PROJECT_SOURCE_DIR}/src/gen\""
                            OBJECT_DEPENDS "${piece_files}")
set(kernel_sources ${library_sources})
list(FILTER kernel_sources INCLUDE REGEX "/device/cpu/kernels/kernels_[^/]*\\.c$")
list(FILTER library_sources EXCLUDE REGEX "/device/cpu/kernels/kernels_[^/]*\\.c$")

add_library(leat_objects OBJECT ${library_sources})
target_link_libraries(leat_objects PRIVATE leat_flags PkgConfig::SLEEF PkgConfig::ZLIB PkgConfig::PNG Threads::Threads)
set(leat_object_files $<TARGET_OBJECTS:leat_objects>)

# Compiles the kernels once for each instruction set; LE_SIMD says which.
function(leat_kernels name simd)
  add_library(${name} OBJECT ${kernel_sources})
  target_link_libraries(${name} PRIVATE leat_flags PkgConfig::SLEEF)
  target_compile_definitions(${name} PRIVATE LE_SIMD=${simd})
  if(LEAT_SANITIZE)
    set(level ${LEAT_SANITIZE_LOOPS})
  elseif(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(level -O2)
  else()
    set(level -O3)
  endif()
  target_compile_options(${name} PRIVATE ${level} -fno-math-errno -fno-trapping-math ${ARGN})
  list(APPEND leat_object_files $<TARGET_OBJECTS:${name}>)
  set(leat_object_files ${leat_object_files} PARENT_SCOPE)
endfunction()
leat_kernels(leat_kernels_baseline 0)
option(LEAT_BASELINE_ALONE "build no kernels for AVX2 and AVX-512; halves the time to build" OFF)
if(LEAT_BASELINE_ALONE)
  target_compile_definitions(leat_objects PRIVATE LE_BASELINE_ALONE)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  leat_kernels(leat_kernels_avx2 1 -mavx2 -mfma -mf16c -mbmi2 -mpopcnt)
  leat_kernels(leat_kernels_avx512 2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mfma -mf16c -mbmi2 -mpopcnt
               -mprefer-vector-width=512)
endif()

function(leat_library target kind)
  add_library(${target} ${kind} ${leat_object_files})
  add_library(leat::${target} ALIAS ${target})
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PRIVATE PkgConfig::SLEEF PkgConfig::ZLIB PkgConfig::PNG Threads::Threads ${CMAKE_DL_LIBS} m rt)
  if(LEAT_SANITIZE)
    target_link_options(${target} PUBLIC $<BUILD_INTERFACE:-fsanitize=${LEAT_SANITIZE}>)
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME leat LINKER_LANGUAGE C)
endfunction()
leat_library(leat_static STATIC)
leat_library(leat SHARED)
set_target_properties(leat PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_options(leat PRIVATE -Wl,--as-needed -Wl,-z,relro)
if(NOT LEAT_SANITIZE)
  target_link_options(leat PRIVATE -Wl,--no-undefined)
endif()

# The command's parts are a library of their own, so that its unit tests can link them.
leat_sources(command_sources cli)
list(FILTER command_sources EXCLUDE REGEX "/main\\.c$")
add_library(leat_command_parts STATIC ${command_sources})
target_link_libraries(leat_command_parts PRIVATE leat_flags PUBLIC leat_static)
add_executable(leat_command src/cli/main.c)
target_link_libraries(leat_command PRIVATE leat_flags leat_command_parts)
# Lazy binding and --as-needed: the command starts without looking up functions that it does not call.
target_link_options(leat_command PRIVATE -Wl,--as-needed -Wl,-z,lazy)
set_target_properties(leat_command PROPERTIES OUTPUT_NAME leat)
