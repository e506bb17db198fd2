# Installs the header, libraries, command, leat.pc, CMake package, man pages and completion. All paths are relative to the prefix,
# so that an installed tree may be moved.
install(FILES include/leat.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS leat leat_static LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS leat_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

file(RELATIVE_PATH leat_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" leat_pc_prefix "${leat_pc_prefix}")
configure_file(cmake/leat.pc.in leat.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/leat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CMakePackageConfigHelpers)
set(leat_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/leat)
configure_package_config_file(cmake/leat-config.cmake.in leat-config.cmake INSTALL_DESTINATION ${leat_cmake_dir}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(leat-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/leat-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/leat-config-version.cmake
        DESTINATION ${leat_cmake_dir})

# man pages: man/NAME.SECTION.scd
find_program(SCDOC scdoc)
file(GLOB man_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.scd)
set(man_pages "")
if(SCDOC AND man_sources)
  foreach(source ${man_sources})
    get_filename_component(page ${source} NAME)
    string(REGEX REPLACE "\\.scd$" "" page ${page})
    string(REGEX REPLACE ".*\\." "" section ${page})
    set(target_file ${CMAKE_CURRENT_BINARY_DIR}/man/man${section}/${page})
    add_custom_command(OUTPUT ${target_file}
                       COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/man/man${section}
                       COMMAND ${SCDOC} < ${source} > ${target_file}
                       DEPENDS ${source} VERBATIM)
    list(APPEND man_pages ${target_file})
  endforeach()
  install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()

# everything that is installed; no tests
add_custom_target(leat_product ALL DEPENDS leat leat_static leat_command leat_trace ${man_pages})

set(completion ${PROJECT_SOURCE_DIR}/completion/leat.bash)
if(EXISTS ${completion})
  install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions RENAME leat)
endif()
