# To be sourced. If .packages/ has Debian's packages of the libraries (`make gpu-packages` downloads them for a machine without network
# access), unpacks them into build/packages, and sets variables so that CMake, pkg-config and the loader find them. Does nothing without
# that folder.
if [ -d .packages ]; then
    packages_root=$PWD/build/packages
    if [ ! -e "$packages_root/.done" ]; then
        mkdir -p "$packages_root"
        for package in .packages/*.deb; do dpkg -x "$package" "$packages_root"; done
        # links and pkg-config files contain paths below the root for which the packages were made
        find "$packages_root" -type l -lname '/*' | while read -r link; do ln -sf "$packages_root$(readlink "$link")" "$link"; done
        find "$packages_root" -name '*.pc' -exec sed -i "s|^prefix=.*|prefix=$packages_root/usr|; s|=/usr/|=$packages_root/usr/|" {} +
        touch "$packages_root/.done"
    fi
    packages_libraries=$(find "$packages_root/usr/lib" "$packages_root/lib" -name '*.so*' -printf '%h\n' 2>/dev/null | sort -u | paste -sd:)
    PKG_CONFIG_PATH=$(find "$packages_root" -name pkgconfig -type d | paste -sd:)${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
    LD_LIBRARY_PATH=$packages_libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    # stored in linked programs, because some tests clear the environment
    LDFLAGS="-Wl,--disable-new-dtags,-rpath,$packages_libraries ${LDFLAGS:-}"
    LIBRARY_PATH=$packages_libraries${LIBRARY_PATH:+:$LIBRARY_PATH}
    CPATH=$packages_root/usr/include:$(echo "$packages_root"/usr/include/*-linux-gnu)${CPATH:+:$CPATH}
    command -v pkg-config >/dev/null 2>&1 || PATH=$packages_root/usr/bin:$PATH
    export PKG_CONFIG_PATH LD_LIBRARY_PATH LDFLAGS LIBRARY_PATH CPATH PATH
fi
