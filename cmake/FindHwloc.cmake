# Finds hwloc, which knows cores, caches and NUMA nodes.
#
#   find_package(Hwloc REQUIRED)
#
# Target:    Hwloc::Hwloc.
# Variables: Hwloc_FOUND.
# Hints:     Hwloc_ROOT, CMAKE_PREFIX_PATH, and pkg-config's hwloc.

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_Hwloc QUIET hwloc)
endif()
find_path(Hwloc_INCLUDE_DIR hwloc.h HINTS ${PC_Hwloc_INCLUDE_DIRS})
find_library(Hwloc_LIBRARY hwloc HINTS ${PC_Hwloc_LIBRARY_DIRS})
mark_as_advanced(Hwloc_INCLUDE_DIR Hwloc_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc
  REQUIRED_VARS Hwloc_LIBRARY Hwloc_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Install hwloc (Debian: apt install libhwloc-dev) or set Hwloc_ROOT.")

if(Hwloc_FOUND AND NOT TARGET Hwloc::Hwloc)
  add_library(Hwloc::Hwloc UNKNOWN IMPORTED)
  set_target_properties(Hwloc::Hwloc PROPERTIES
    IMPORTED_LOCATION "${Hwloc_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Hwloc_INCLUDE_DIR}")
endif()
