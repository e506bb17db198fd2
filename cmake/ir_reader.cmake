include_guard()
# The readers of the IR's text and of kernel trees. Only tests and fuzzers use them.
file(GLOB ir_reader_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/ir/reader/*.c ${PROJECT_SOURCE_DIR}/tests/ktree/reader/*.c
     ${PROJECT_SOURCE_DIR}/tests/reader/*.c)
add_library(leat_ir_reader STATIC ${ir_reader_sources})
target_include_directories(leat_ir_reader PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(leat_ir_reader PRIVATE leat_flags PUBLIC leat_static)
