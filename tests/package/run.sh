#!/usr/bin/env bash
# usage: run.sh BUILD PREFIX install|posse_without_caf|shared_heap|everything|unknown_component|
#                             pkg_config|optimisation|shared_library|hardening|
#                             add_subdirectory|fetch_content|shared
# Does what a user of the installed package does. CXX and CMAKE come from the environment.
set -euo pipefail
build=$1 prefix=$2 what=$3
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/consumer
work=$prefix/../$what
# Warnings that careful users compile with.
warnings=(-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)

# configure ARGUMENTS...: the outside project, from nothing, with this prefix alone as hint.
configure() {
  rm -rf "$work"
  "$CMAKE" -S "$consumer" -B "$work" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" "$@"
}

case $what in
  install)
    rm -rf "$prefix"
    "$CMAKE" --install "$build" --prefix "$prefix"
    # Nothing private may travel along.
    if find "$prefix" -path '*/src/*' | grep .; then
      echo "private files were installed" >&2
      exit 1
    fi
    ;;
  posse_without_caf)
    configure -DWANTED=posse -DCMAKE_DISABLE_FIND_PACKAGE_CAF=ON -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON
    "$CMAKE" --build "$work" --parallel 2
    "$work/fork_merge"
    "$work/collector"
    "$work/plugin_host" "$work/libplugin.so"
    ;;
  shared_heap)
    configure -DWANTED=posse_gc -DCMAKE_DISABLE_FIND_PACKAGE_CAF=ON
    "$CMAKE" --build "$work" --parallel 2
    "$work/shared_heap"
    # Only who uses the heap links the collector.
    if ldd "$work/fork_merge" | grep libgc.so; then
      echo "fork_merge links the collector" >&2
      exit 1
    fi
    ;;
  everything)
    configure -DWANTED=
    "$CMAKE" --build "$work" --parallel 2
    "$work/fork_merge"
    "$work/actor"
    ;;
  unknown_component)
    if configure -DWANTED=teapot; then
      echo "find_package found a module that does not exist" >&2
      exit 1
    fi 2>"$prefix/../unknown_component.txt"
    cat "$prefix/../unknown_component.txt"
    grep -q "no module 'teapot'" "$prefix/../unknown_component.txt"
    ;;
  pkg_config)
    rm -rf "$work"
    mkdir -p "$work"
    file=$(find "$prefix" -name basal.pc)
    export PKG_CONFIG_PATH=${file%/*}
    sources=("$consumer/fork_merge.cpp")
    if pkg-config --libs basal | grep -q basal_actors; then
      sources+=("$consumer/actor.cpp" "$consumer/../../../samples/hello/main.cpp")
    fi
    # shellcheck disable=SC2046 # the flags are words
    for source in "${sources[@]}"; do
      "$CXX" "${warnings[@]}" -O1 -o "$work/program" "$source" $(pkg-config --cflags --libs basal)
      "$work/program"
    done
    if [[ -e ${file%/*}/basal-posse-gc.pc ]]; then
      # shellcheck disable=SC2046
      "$CXX" "${warnings[@]}" -O1 -o "$work/shared_heap" "$consumer/shared_heap.cpp" \
        $(pkg-config --cflags --libs basal-posse-gc)
      "$work/shared_heap"
    fi
    if [[ -e ${file%/*}/basal-observer.pc ]]; then
      # shellcheck disable=SC2046
      "$CXX" "${warnings[@]}" -O1 -o "$work/observed" "$consumer/observed.cpp" \
        $(pkg-config --cflags --libs basal-observer)
      "$work/observed"
    fi
    if [[ -e ${file%/*}/basal-cluster.pc ]]; then
      # shellcheck disable=SC2046
      "$CXX" "${warnings[@]}" -O1 -o "$work/clustered" "$consumer/clustered.cpp" \
        $(pkg-config --cflags --libs basal-cluster)
      "$work/clustered"
    fi
    if [[ -e ${file%/*}/basal-remote.pc ]]; then
      # shellcheck disable=SC2046
      "$CXX" "${warnings[@]}" -O1 -o "$work/published" "$consumer/published.cpp" \
        $(pkg-config --cflags --libs basal-remote)
      "$work/published"
    fi
    # A module alone asks for what it needs.
    if pkg-config --libs --cflags basal-posse | grep -e caf -e hwy; then
      echo "basal-posse.pc links more than posse" >&2
      exit 1
    fi
    # shellcheck disable=SC2046
    "$CXX" "${warnings[@]}" -O1 -o "$work/posse" "$consumer/fork_merge.cpp" \
      $(pkg-config --cflags --libs basal-posse)
    "$work/posse"
    # The language level is the user's.
    if pkg-config --cflags basal basal-posse-gc | grep -e -std=; then
      echo "the package overrides -std" >&2
      exit 1
    fi
    ;;
  optimisation) # the user's level, which need not be the library's
    rm -rf "$work"
    mkdir -p "$work"
    file=$(find "$prefix" -name basal.pc)
    for level in -O0 -O1 -O2 -O3; do
      # shellcheck disable=SC2046
      "$CXX" "${warnings[@]}" $level -o "$work/program$level" "$consumer/fork_merge.cpp" \
        $(PKG_CONFIG_PATH=${file%/*} pkg-config --cflags --libs basal-posse)
      "$work/program$level"
    done
    ;;
  add_subdirectory | fetch_content) # a project that builds basal with itself, as far as it needs it
    rm -rf "$work"
    "$CMAKE" -S "$consumer/../embedder" -B "$work" -G Ninja -DHOW="$what" \
      -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)"
    "$CMAKE" --build "$work" --parallel 2 --target fork_merge
    "$work/fork_merge"
    # Of a project inside another one, neither tests nor samples are built.
    if "$CMAKE" --build "$work" --target help | grep -e bench_posse -e 'posse\.[a-z_]*\.test'; then
      echo "basal's own tests are targets of the project that embeds it" >&2
      exit 1
    fi
    ;;
  shared) # shared libraries instead of archives; a user's library and programs that link them
    # Beside the build, as deep as it: ccache then knows the objects.
    rm -rf "$work" "$build-package-shared"
    mkdir -p "$work"
    mapfile -t same < <(grep -E '^(CMAKE_BUILD_TYPE|CMAKE_CXX_FLAGS[A-Z_]*|BASAL_W[A-Z_]+):' \
      "$build/CMakeCache.txt" | sed 's/^/-D/')
    "$CMAKE" -S "$consumer/../../.." -B "$build-package-shared" -G Ninja "${same[@]}" \
      -DBUILD_SHARED_LIBS=ON -DBASAL_BUILD_BENCH=OFF -DBASAL_BUILD_SAMPLES=OFF
    "$CMAKE" --build "$build-package-shared" --parallel 2
    "$CMAKE" --install "$build-package-shared" --prefix "$work/prefix"
    python3 -B "$consumer/../exports_test.py" "$work/prefix" "$prefix"
    "$work/prefix/bin/basal-trace" --help
    # Not even the packages that only basal's sources name are asked for.
    configure_with() {
      "$CMAKE" -S "$consumer" -B "$work/$1" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
        -DCMAKE_DISABLE_FIND_PACKAGE_Hwloc=ON -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON "${@:2}"
      "$CMAKE" --build "$work/$1" --parallel 2
    }
    configure_with of_posse -DWANTED=posse -DCMAKE_DISABLE_FIND_PACKAGE_CAF=ON
    "$work/of_posse/user_program"
    "$work/of_posse/plugin_host" "$work/of_posse/libplugin.so"
    if compgen -G "$work/prefix/lib/*/libbasal_posse_gc.so" >/dev/null \
      || [[ -e $work/prefix/lib/libbasal_posse_gc.so ]]; then
      configure_with of_heap -DWANTED=posse_gc
      "$work/of_heap/shared_heap"
    fi
    configure_with of_all -DWANTED=
    file=$(find "$work/prefix" -name basal.pc)
    export PKG_CONFIG_PATH=${file%/*}
    # shellcheck disable=SC2046 # the flags are words
    "$CXX" "${warnings[@]}" -O1 -o "$work/by_pkg_config" "$consumer/fork_merge.cpp" \
      $(pkg-config --cflags --libs basal-posse) -Wl,-rpath,"$work/prefix/lib"
    "$work/by_pkg_config"
    if [[ -e ${file%/*}/basal-actors.pc ]]; then
      "$work/of_all/actor"
    fi
    ;;
  shared_library) # a plugin that holds all of our archives
    rm -rf "$work"
    mkdir -p "$work"
    file=$(find "$prefix" -name basal.pc)
    export PKG_CONFIG_PATH=${file%/*}
    mapfile -t archives < <(find "$prefix" -name 'libbasal_*.a')
    # shellcheck disable=SC2046
    "$CXX" "${warnings[@]}" -fPIC -shared -Wl,--no-undefined -o "$work/libplugin.so" \
      "$consumer/plugin.cpp" $(pkg-config --cflags basal) \
      -Wl,--whole-archive "${archives[@]}" -Wl,--no-whole-archive \
      $(pkg-config --libs $(cd "${file%/*}" && basename -s .pc basal*.pc))
    "$CXX" "${warnings[@]}" -o "$work/host" "$consumer/plugin_host.cpp" -ldl
    "$work/host" "$work/libplugin.so"
    ;;
  hardening) # programs: position independent, resolved at start, no writable table, no code in data
    for program in "$prefix"/bin/*; do
      headers=$(readelf --wide --file-header --program-headers --dynamic "$program")
      for wanted in 'Type: *DYN' 'GNU_STACK .* RW ' 'GNU_RELRO' 'NOW.*PIE'; do
        grep -q "$wanted" <<<"$headers" || { echo "$program: no '$wanted'" >&2; exit 1; }
      done
    done
    # An object without the note, or with an executable one, makes a program's stack executable.
    while read -r archive; do
      objects=$(readelf --wide --file-header "$archive" | grep -c 'Class:')
      notes=$(readelf --wide --sections "$archive" | grep 'note.GNU-stack')
      if (($(wc -l <<<"$notes") != objects)) || grep ' 00  *[WA]*X' <<<"$notes"; then
        echo "$archive: not each of $objects objects says that its stack is not executable" >&2
        exit 1
      fi
    done < <(find "$prefix" -name 'libbasal_*.a')
    ;;
  *)
    echo "unknown: $what" >&2
    exit 2
    ;;
esac
