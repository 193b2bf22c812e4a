# Compiles through ccache where it is installed, unless the user chose a launcher.
# ccache refuses precompiled headers unless told that defines and timestamps of
# the header itself do not matter; g++ needs -fpch-preprocess for it (_basal_ccache_pch).
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(BASAL_CCACHE ccache)
  mark_as_advanced(BASAL_CCACHE)
  if(BASAL_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${BASAL_CCACHE}")
  endif()
endif()
