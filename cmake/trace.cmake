# libleat_trace.so, which `leat trace` loads into the program that it records. It has its own copies of the few files of base that it
# needs, and exports only the functions that the driver and NVTX look for.
file(GLOB recorder_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/trace/recorder/*.c)
list(FILTER recorder_sources EXCLUDE REGEX "_test\\.c$")
set(recorder_base arena clock cores environment fork hash library_search memory)
list(TRANSFORM recorder_base PREPEND ${PROJECT_SOURCE_DIR}/src/base/)
list(TRANSFORM recorder_base APPEND .c)
add_library(leat_recorder_parts STATIC ${recorder_sources}) # also for its unit tests
target_link_libraries(leat_recorder_parts PRIVATE leat_flags)
add_library(leat_trace MODULE $<TARGET_OBJECTS:leat_recorder_parts> ${recorder_base})
target_link_libraries(leat_trace PRIVATE leat_flags Threads::Threads ${CMAKE_DL_LIBS})
# nodelete: CUPTI and exit call it until the process ends
target_link_options(leat_trace PRIVATE -static-libgcc -Wl,-z,nodelete -Wl,--as-needed -Wl,-z,relro)
if(NOT LEAT_SANITIZE)
  target_link_options(leat_trace PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(leat_trace PROPERTIES LINKER_LANGUAGE C)
install(TARGETS leat_trace LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/leat)

# The path of the installed libleat_trace.so, relative to the command's folder.
file(RELATIVE_PATH leat_recorder_place /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR}/leat)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/trace/find_recorder.c PROPERTIES
                            COMPILE_DEFINITIONS "LE_RECORDER_PLACE=\"${leat_recorder_place}\"")
