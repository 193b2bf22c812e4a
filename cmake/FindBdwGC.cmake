# Finds the Boehm-Demers-Weiser garbage collector.
#
#   find_package(BdwGC 8.2 REQUIRED)
#
# Target:    BdwGC::BdwGC, with GC_THREADS defined: without it gc.h hides the calls
#            that register threads and does not wrap thread creation.
# Variables: BdwGC_FOUND, BdwGC_VERSION.
# Hints:     BdwGC_ROOT, CMAKE_PREFIX_PATH, and pkg-config's bdw-gc.

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_BdwGC QUIET bdw-gc)
endif()
find_path(BdwGC_INCLUDE_DIR gc/gc.h HINTS ${PC_BdwGC_INCLUDE_DIRS})
find_library(BdwGC_LIBRARY gc HINTS ${PC_BdwGC_LIBRARY_DIRS})
mark_as_advanced(BdwGC_INCLUDE_DIR BdwGC_LIBRARY)

set(BdwGC_VERSION)
if(BdwGC_INCLUDE_DIR AND EXISTS "${BdwGC_INCLUDE_DIR}/gc/gc_version.h")
  set(_bdwgc_parts)
  foreach(part MAJOR MINOR MICRO)
    file(STRINGS "${BdwGC_INCLUDE_DIR}/gc/gc_version.h" line
         REGEX "^#[ \t]*define GC_TMP_VERSION_${part} ")
    if(line MATCHES "VERSION_${part} +([0-9]+)")
      list(APPEND _bdwgc_parts ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(JOIN _bdwgc_parts "." BdwGC_VERSION)
endif()
if(NOT BdwGC_VERSION)
  set(BdwGC_VERSION ${PC_BdwGC_VERSION})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BdwGC
  REQUIRED_VARS BdwGC_LIBRARY BdwGC_INCLUDE_DIR
  VERSION_VAR BdwGC_VERSION
  REASON_FAILURE_MESSAGE
    "Install Boehm's collector (Debian: apt install libgc-dev) or set BdwGC_ROOT.")

if(BdwGC_FOUND AND NOT TARGET BdwGC::BdwGC)
  find_package(Threads QUIET)
  add_library(BdwGC::BdwGC UNKNOWN IMPORTED)
  set_target_properties(BdwGC::BdwGC PROPERTIES
    IMPORTED_LOCATION "${BdwGC_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${BdwGC_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS GC_THREADS
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
