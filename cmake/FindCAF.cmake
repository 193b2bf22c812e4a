# Finds the C++ Actor Framework, for which Debian ships no package file.
#
#   find_package(CAF 0.17 REQUIRED COMPONENTS core io openssl)
#
# Targets:   CAF::core, CAF::io, CAF::openssl, one for each component found.
# Variables: CAF_FOUND, CAF_<component>_FOUND, CAF_VERSION.
# Hints:     CAF_ROOT, or CMAKE_PREFIX_PATH.
# Without COMPONENTS only core is searched.

if(NOT CAF_FIND_COMPONENTS)
  set(CAF_FIND_COMPONENTS core)
endif()

find_path(CAF_INCLUDE_DIR caf/config.hpp)
mark_as_advanced(CAF_INCLUDE_DIR)

# CAF_VERSION is MAJOR*10000 + MINOR*100 + PATCH: 1706 is 0.17.6. Later releases
# moved the macro to build_config.hpp and added CAF_VERSION_MAJOR.
set(CAF_VERSION)
if(CAF_INCLUDE_DIR)
  foreach(header caf/config.hpp caf/detail/build_config.hpp)
    if(NOT CAF_VERSION AND EXISTS "${CAF_INCLUDE_DIR}/${header}")
      file(STRINGS "${CAF_INCLUDE_DIR}/${header}" line REGEX "^#define CAF_VERSION [0-9]+")
      if(line MATCHES "CAF_VERSION ([0-9]+)")
        math(EXPR major "${CMAKE_MATCH_1} / 10000")
        math(EXPR minor "${CMAKE_MATCH_1} / 100 % 100")
        math(EXPR patch "${CMAKE_MATCH_1} % 100")
        set(CAF_VERSION ${major}.${minor}.${patch})
      endif()
    endif()
  endforeach()
endif()

set(_caf_libraries)
foreach(component IN LISTS CAF_FIND_COMPONENTS)
  find_library(CAF_${component}_LIBRARY NAMES caf_${component} caf_${component}_static)
  mark_as_advanced(CAF_${component}_LIBRARY)
  if(CAF_INCLUDE_DIR AND CAF_${component}_LIBRARY)
    set(CAF_${component}_FOUND TRUE)
    list(APPEND _caf_libraries ${CAF_${component}_LIBRARY})
    if(NOT TARGET CAF::${component})
      add_library(CAF::${component} UNKNOWN IMPORTED)
      set_target_properties(CAF::${component} PROPERTIES
        IMPORTED_LOCATION "${CAF_${component}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}")
      if(component STREQUAL "core")
        find_package(Threads QUIET)
        target_link_libraries(CAF::core INTERFACE Threads::Threads)
      elseif(TARGET CAF::core)
        target_link_libraries(CAF::${component} INTERFACE CAF::core)
      endif()
    endif()
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF
  REQUIRED_VARS CAF_INCLUDE_DIR _caf_libraries
  VERSION_VAR CAF_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE
    "Install the C++ Actor Framework (Debian: apt install libcaf-dev) or set CAF_ROOT.")
