# Toolchain file: builds for 64-bit Arm on another Linux machine with GNU's cross compiler. Programs run under qemu if it is found.
# Set CMAKE_SYSROOT to the folder of Arm's libraries, unless Debian's multiarch installed them beside the host's own.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")

find_program(LEAT_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(LEAT_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${LEAT_QEMU} -L ${CMAKE_SYSROOT}/)
endif()
