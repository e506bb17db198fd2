# Tests of the recorder and `leat trace`, with stand-ins for CUPTI and the driver, and unit tests of the recorder's parts.
set(trace_folder ${CMAKE_CURRENT_BINARY_DIR}/tests/trace)
function(leat_standin target output)
  add_library(${target} SHARED ${PROJECT_SOURCE_DIR}/tests/trace/${target}.c)
  target_link_libraries(${target} PRIVATE leat_flags Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE -Wl,-soname,${output})
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${output} NO_SONAME ON
                                             LIBRARY_OUTPUT_DIRECTORY ${trace_folder})
endfunction()
leat_standin(standin_cupti libcupti.so.13)
leat_standin(standin_cuda libcuda.so.1)
leat_standin(standin_xla xla_cuda_plugin.so)
add_executable(standin_program ${PROJECT_SOURCE_DIR}/tests/trace/standin_program.c)
target_link_libraries(standin_program PRIVATE leat_flags standin_cuda Threads::Threads)
set_target_properties(standin_program PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${trace_folder})

leat_program(test_recorder ${PROJECT_SOURCE_DIR}/tests/trace/recorder.c)
target_compile_definitions(test_recorder PRIVATE TRACE_FOLDER="${trace_folder}" TRACE_RECORDER="$<TARGET_FILE:leat_trace>")
add_dependencies(test_recorder leat_trace standin_cupti standin_xla standin_program)
leat_test(tests/trace/recorder test_recorder)
leat_program(test_recorder_ring ${PROJECT_SOURCE_DIR}/tests/trace/ring.c)
target_link_libraries(test_recorder_ring PRIVATE leat_recorder_parts Threads::Threads)
leat_test(tests/trace/ring test_recorder_ring)
set_property(TEST tests/trace/recorder tests/trace/ring APPEND PROPERTY LABELS threads)
add_dependencies(leat_thread_tests test_recorder test_recorder_ring)

# Compares the recorder's declarations of CUPTI with a real cupti.h, if one is installed.
leat_test(tests/cupti_headers tests/cuda_headers/cupti_headers.sh)
set_tests_properties(tests/cupti_headers PROPERTIES LABELS once SKIP_RETURN_CODE 77)

# Compares reports of recorded traces with the expected ones. command_here is set in tests.cmake.
leat_test(tests/trace/recorded tests/trace/recorded.sh ${command_here})

# Memory that reports take, for several mixes of records. A sanitizer's own memory would count, so not with sanitizers.
leat_program(test_limits ${PROJECT_SOURCE_DIR}/tests/trace/limits.c)
if(NOT LEAT_SANITIZE)
  leat_test(tests/trace/limits test_limits)
endif()
