# Finds NATS' C client. Debian's own package file names a static library that it does not bring.
#
#   find_package(Nats 3.4 REQUIRED)
#
# Target:    Nats::Nats.
# Variables: Nats_FOUND, Nats_VERSION.
# Hints:     Nats_ROOT, CMAKE_PREFIX_PATH, and pkg-config's libnats.

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_Nats QUIET libnats)
endif()
find_path(Nats_INCLUDE_DIR nats/nats.h HINTS ${PC_Nats_INCLUDE_DIRS})
find_library(Nats_LIBRARY nats HINTS ${PC_Nats_LIBRARY_DIRS})
mark_as_advanced(Nats_INCLUDE_DIR Nats_LIBRARY)

set(Nats_VERSION)
if(Nats_INCLUDE_DIR AND EXISTS "${Nats_INCLUDE_DIR}/nats/version.h")
  file(STRINGS "${Nats_INCLUDE_DIR}/nats/version.h" line REGEX "define NATS_VERSION_STRING")
  if(line MATCHES "\"([0-9.]+)")
    set(Nats_VERSION ${CMAKE_MATCH_1})
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nats
  REQUIRED_VARS Nats_LIBRARY Nats_INCLUDE_DIR
  VERSION_VAR Nats_VERSION
  REASON_FAILURE_MESSAGE
    "Install NATS' C client (Debian: apt install libnats-dev) or set Nats_ROOT.")

if(Nats_FOUND AND NOT TARGET Nats::Nats)
  add_library(Nats::Nats UNKNOWN IMPORTED)
  set_target_properties(Nats::Nats PROPERTIES
    IMPORTED_LOCATION "${Nats_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Nats_INCLUDE_DIR}")
endif()
