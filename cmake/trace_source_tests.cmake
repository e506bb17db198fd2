# Tests of the source lines of recorded calls. The part of the recorder that finds them is in a library of its own, whose name marks its
# frames as not the program's. It is tested with interpreters and compilers.
file(GLOB source_line_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/trace/recorder/source*.c)
set(source_line_base ${PROJECT_SOURCE_DIR}/src/base/hash.c ${PROJECT_SOURCE_DIR}/src/base/arena.c ${PROJECT_SOURCE_DIR}/src/base/memory.c)
add_library(leat_trace_probe SHARED ${PROJECT_SOURCE_DIR}/tests/trace/source_probe.c ${source_line_sources} ${source_line_base})
target_link_libraries(leat_trace_probe PRIVATE leat_flags Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(leat_trace_probe PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests)

add_executable(source_native_test ${PROJECT_SOURCE_DIR}/tests/trace/source_native_test.c)
target_link_libraries(source_native_test PRIVATE leat_flags leat_trace_probe PkgConfig::CMOCKA Threads::Threads)
add_executable(source_table_test ${PROJECT_SOURCE_DIR}/tests/trace/source_table_test.c
               ${PROJECT_SOURCE_DIR}/src/trace/recorder/source_table.c ${PROJECT_SOURCE_DIR}/src/trace/recorder/source_lines.c
               ${source_line_base})
target_link_libraries(source_table_test PRIVATE leat_flags PkgConfig::CMOCKA Threads::Threads)
foreach(name source_native source_table)
  set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests)
  leat_test(tests/trace/${name} ${name}_test)
endforeach()
# Native frames are found on x86-64 only. An interpreter without sanitizers cannot load a library that has them.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set_tests_properties(tests/trace/source_native PROPERTIES DISABLED ON)
endif()
if(NOT LEAT_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  leat_test(tests/trace/source_python tests/trace/source_python.sh $<TARGET_FILE:leat_trace_probe>)
  set_tests_properties(tests/trace/source_python PROPERTIES SKIP_RETURN_CODE 77 LABELS once)
endif()
