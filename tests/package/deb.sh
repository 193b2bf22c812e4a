#!/usr/bin/env bash
# usage: deb.sh FOLDER: unpacks the packages in FOLDER into an empty root, and builds the hello
# program against what lies there, by pkg-config and by find_package. Run by `./dev deb`.
set -euo pipefail
packages=$(cd "$1" && pwd)
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/samples/hello/main.cpp
root=$packages/root
work=$packages/hello
rm -rf "$root" "$work"
mkdir -p "$root" "$work"
for package in "$packages"/libbasal-dev_*.deb "$packages"/basal-tools_*.deb; do
  dpkg -x "$package" "$root"
done

"$root/usr/bin/basal-trace" --help

# An installed basal is used so.
file=$(find "$root/usr/lib" -name basal.pc)
# shellcheck disable=SC2046 # the flags are words
"${CXX:-c++}" -std=c++20 -O2 -o "$work/by_pkg_config" "$source" \
  $(PKG_CONFIG_PATH=${file%/*} pkg-config --cflags --libs basal-actors)
"$work/by_pkg_config"

cat >"$work/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(hello LANGUAGES CXX)
find_package(basal 0.1 REQUIRED COMPONENTS actors)
add_executable(hello main.cpp)
target_link_libraries(hello PRIVATE basal::actors)
CMAKE
cp "$source" "$work/main.cpp"
cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$root/usr"
cmake --build "$work/build"
"$work/build/hello"
