#!/usr/bin/env bash
# usage: run.sh BUILD PREFIX install|posse_without_caf|shared_heap|everything|unknown_component|
#                             pkg_config
# What a user of the installed package does. CXX and CMAKE come from the environment.
set -euo pipefail
build=$1 prefix=$2 what=$3
consumer=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/consumer
work=$prefix/../$what

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
    configure -DWANTED=posse -DCMAKE_DISABLE_FIND_PACKAGE_CAF=ON
    "$CMAKE" --build "$work" --parallel 2
    "$work/fork_merge"
    "$work/collector"
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
    # shellcheck disable=SC2046 # the flags are words
    for source in fork_merge $(pkg-config --libs basal | grep -q basal_actors && echo actor); do
      "$CXX" -O1 -o "$work/$source" "$consumer/$source.cpp" $(pkg-config --cflags --libs basal)
      "$work/$source"
    done
    if [[ -e ${file%/*}/basal-posse-gc.pc ]]; then
      # shellcheck disable=SC2046
      "$CXX" -O1 -o "$work/shared_heap" "$consumer/shared_heap.cpp" \
        $(pkg-config --cflags --libs basal-posse-gc)
      "$work/shared_heap"
    fi
    ;;
  *)
    echo "unknown: $what" >&2
    exit 2
    ;;
esac
