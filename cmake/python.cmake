# The Python package: the extension leat._leat, which contains the library, for CPython's stable ABI of 3.11 and later, and the files of
# python/leat. The build folder's python/ is a folder for PYTHONPATH.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
set(python_folder ${PROJECT_SOURCE_DIR}/python/leat)
file(GLOB python_sources CONFIGURE_DEPENDS ${python_folder}/*.c)
file(GLOB python_files CONFIGURE_DEPENDS ${python_folder}/*.py ${python_folder}/*.pyi ${python_folder}/py.typed)

add_library(leat_python MODULE ${python_sources})
target_include_directories(leat_python SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_compile_definitions(leat_python PRIVATE Py_LIMITED_API=0x030B0000)
target_link_libraries(leat_python PRIVATE leat_flags leat_static)
# Exports PyInit__leat only: the process may have another libleat, which is not used in its stead.
file(CONFIGURE OUTPUT python.map CONTENT "{ global: PyInit__leat; local: *; };\n")
target_link_options(leat_python PRIVATE -Wl,--version-script,${CMAKE_CURRENT_BINARY_DIR}/python.map -Wl,--as-needed -Wl,-z,relro)
set_target_properties(leat_python PROPERTIES PREFIX "" OUTPUT_NAME _leat SUFFIX .abi3.so LINKER_LANGUAGE C INSTALL_RPATH "$ORIGIN/lib"
                                             LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/python/leat)
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/python/leat)
foreach(path ${python_files})
  get_filename_component(name ${path} NAME)
  file(CREATE_LINK ${path} ${CMAKE_CURRENT_BINARY_DIR}/python/leat/${name} SYMBOLIC)
endforeach()
add_dependencies(leat_product leat_python)

# ---- cmake --install

set(LEAT_PYTHON_DIR "" CACHE STRING "Folder for the Python package, relative to the prefix; empty: where Python looks")
set(python_packages ${LEAT_PYTHON_DIR})
if(NOT python_packages)
  # Debian's own Python looks in dist-packages below /usr and /usr/local.
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print('dist' if 'deb_system' in sysconfig.get_scheme_names() else 'site')"
                  OUTPUT_VARIABLE kind OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(python_packages lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/${kind}-packages)
endif()
install(TARGETS leat_python LIBRARY DESTINATION ${python_packages}/leat)
install(FILES ${python_files} DESTINATION ${python_packages}/leat)

# ---- the wheel, made by scikit-build-core (pyproject.toml)

# Its command is in bin and finds its libraries in lib/leat, below the environment's prefix. The extension has its own copies beside it,
# because an environment need not have a common prefix (pip --target).
set_target_properties(leat_command PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/leat")
if(NOT SKBUILD)
  return()
endif()
set(wheel COMPONENT wheel EXCLUDE_FROM_ALL)
install(TARGETS leat_python LIBRARY DESTINATION ${SKBUILD_PLATLIB_DIR}/leat ${wheel})
install(FILES ${python_files} DESTINATION ${SKBUILD_PLATLIB_DIR}/leat ${wheel})
install(TARGETS leat_command RUNTIME DESTINATION ${SKBUILD_DATA_DIR}/bin ${wheel})
install(TARGETS leat_trace LIBRARY DESTINATION ${SKBUILD_DATA_DIR}/lib/leat ${wheel})
if(man_pages)
  install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/man/ DESTINATION ${SKBUILD_DATA_DIR}/share/man ${wheel})
endif()

# The shared libraries that no Linux system has for certain, under the names by which they are loaded, with their licences (Debian's).
foreach(library ${SLEEF_LINK_LIBRARIES} ${PNG_LINK_LIBRARIES})
  file(REAL_PATH ${library} file)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  if(NOT headers MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${library} is not a shared library")
  endif()
  set(soname ${CMAKE_MATCH_1})
  if(soname MATCHES "^lib(z|m)\\.so")
    continue()
  endif()
  install(PROGRAMS ${file} DESTINATION ${SKBUILD_PLATLIB_DIR}/leat/lib RENAME ${soname} ${wheel})
  install(PROGRAMS ${file} DESTINATION ${SKBUILD_DATA_DIR}/lib/leat RENAME ${soname} ${wheel})
  string(REGEX REPLACE "\\.so.*" "" name ${soname})
  file(GLOB licences /usr/share/doc/${name}*[0-9]/copyright)
  if(NOT licences)
    message(WARNING "no licence of ${name} was found in /usr/share/doc; the wheel needs it")
    continue()
  endif()
  list(GET licences 0 licence)
  install(FILES ${licence} DESTINATION ${SKBUILD_METADATA_DIR}/licenses RENAME ${name} ${wheel})
endforeach()
