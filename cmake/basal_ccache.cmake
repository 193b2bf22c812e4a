# Compiles through ccache where it is installed and works, unless the user chose a launcher.
#
# Two clones share what they compile: paths below the source directory count as relative ones
# (CCACHE_BASEDIR), and the build directory does not count (CCACHE_NOHASHDIR). In debug information
# a clone may therefore find the build directory of another.
#
# ccache refuses precompiled headers unless told that defines and timestamps of
# the header itself do not matter; g++ needs -fpch-preprocess for it (_basal_ccache_pch).

# _basal_ccache_works(RESULT LAUNCHER...): whether a file can be compiled through it. It cannot
# where its directory is not writable, say.
function(_basal_ccache_works RESULT)
  set(folder ${PROJECT_BINARY_DIR}/CMakeFiles/basal_ccache)
  file(WRITE ${folder}/probe.cpp "int main() {}\n")
  execute_process(
    COMMAND ${ARGN} ${CMAKE_CXX_COMPILER} -c probe.cpp -o probe.o
    WORKING_DIRECTORY ${folder}
    RESULT_VARIABLE status
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said)
  if(status STREQUAL "0")
    set(${RESULT} TRUE PARENT_SCOPE)
  else()
    string(STRIP "${said}" said)
    message(STATUS "Compiling without ccache, which does not work here: ${said}")
    set(${RESULT} FALSE PARENT_SCOPE)
  endif()
endfunction()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(BASAL_CCACHE ccache)
  mark_as_advanced(BASAL_CCACHE)
  if(BASAL_CCACHE)
    set(_basal_launcher
        "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
        "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${BASAL_CCACHE}")
    _basal_ccache_works(_basal_ccache_found ${_basal_launcher})
    if(_basal_ccache_found)
      set(CMAKE_CXX_COMPILER_LAUNCHER ${_basal_launcher})
    endif()
  endif()
endif()
