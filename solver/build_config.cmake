# basal_solver_build_config(FOLDER): writes FOLDER/basal/solver/build_config.hpp, the part of
# the library that depends on how it is built: on BASAL_SOLVER_WITH_DIRECT.
function(basal_solver_build_config FOLDER)
  file(CONFIGURE OUTPUT ${FOLDER}/basal/solver/build_config.hpp CONTENT
[==[/// How this copy of the library was built. Generated.
#pragma once

namespace basal::solver {

/// Is there method::direct? Without it the router says where it would be the remedy.
#cmakedefine01 BASAL_SOLVER_WITH_DIRECT
inline constexpr bool with_direct_method = BASAL_SOLVER_WITH_DIRECT != 0;

} // namespace basal::solver
]==])
endfunction()
