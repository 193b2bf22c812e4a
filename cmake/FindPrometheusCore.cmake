# Finds the core of prometheus-cpp alone. Its own package file asks for curl, zlib and civetweb,
# which only its other parts need and Debian's package does not bring.
#
#   find_package(PrometheusCore REQUIRED)
#
# Target:    Prometheus::Core.
# Variables: PrometheusCore_FOUND.
# Hints:     PrometheusCore_ROOT, CMAKE_PREFIX_PATH, and pkg-config's prometheus-cpp-core.

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_PrometheusCore QUIET prometheus-cpp-core)
endif()
find_path(PrometheusCore_INCLUDE_DIR prometheus/text_serializer.h
          HINTS ${PC_PrometheusCore_INCLUDE_DIRS})
find_library(PrometheusCore_LIBRARY prometheus-cpp-core HINTS ${PC_PrometheusCore_LIBRARY_DIRS})
mark_as_advanced(PrometheusCore_INCLUDE_DIR PrometheusCore_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PrometheusCore
  REQUIRED_VARS PrometheusCore_LIBRARY PrometheusCore_INCLUDE_DIR
  REASON_FAILURE_MESSAGE
    "Install prometheus-cpp (Debian: apt install prometheus-cpp-dev) or set PrometheusCore_ROOT.")

if(PrometheusCore_FOUND AND NOT TARGET Prometheus::Core)
  add_library(Prometheus::Core UNKNOWN IMPORTED)
  set_target_properties(Prometheus::Core PROPERTIES
    IMPORTED_LOCATION "${PrometheusCore_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${PrometheusCore_INCLUDE_DIR}")
endif()
