# Each bench/NAME.c is a benchmark program.
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
foreach(source ${bench_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench_${name} ${source})
  target_link_libraries(bench_${name} PRIVATE leat_flags leat_static)
  set_target_properties(bench_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench)
endforeach()

# bench/gpu: gpu compares with the driver alone; gpu_calls measures calls of programs.
foreach(name gpu gpu_calls)
  add_executable(bench_${name} ${PROJECT_SOURCE_DIR}/bench/gpu/${name}.c)
  target_link_libraries(bench_${name} PRIVATE leat_flags leat_static m ${CMAKE_DL_LIBS})
  set_target_properties(bench_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench)
endforeach()

# bench/python compares calls from Python with this library's calls. It exports only its own functions.
add_library(bench_python_call MODULE ${PROJECT_SOURCE_DIR}/bench/python/python_call.c)
target_link_libraries(bench_python_call PRIVATE leat_flags leat_static)
target_link_options(bench_python_call PRIVATE -Wl,--exclude-libs,ALL)
set_target_properties(bench_python_call PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench)
