# Collects what the modules link and installs the package: headers, archives or shared libraries,
# find_package(basal) and pkg-config's basal.pc.

# basal_declare_dependency(TARGET [LIBS flags...] [REQUIRES pc-names...])
# How pkg-config's users get the library behind an imported target.
function(basal_declare_dependency TARGET)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LIBS;REQUIRES")
  set_property(GLOBAL APPEND PROPERTY basal_dependencies ${TARGET})
  set_property(GLOBAL PROPERTY basal_pc_libs_${TARGET} "${ARG_LIBS}")
  set_property(GLOBAL PROPERTY basal_pc_requires_${TARGET} "${ARG_REQUIRES}")
endfunction()

# basal_package_module(TARGET PUBLIC libs... PRIVATE libs... HEADERS files...), called by
# basal_add_module. A shared library brings along what only its sources name. BASAL_HEADERS becomes
# the list of the module's headers and of those of the modules that it uses.
function(basal_package_module TARGET)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "PUBLIC;PRIVATE;HEADERS")
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY basal_modules ${TARGET})
  get_property(known GLOBAL PROPERTY basal_dependencies)
  foreach(lib IN LISTS ARG_PUBLIC ARG_PRIVATE)
    if(lib MATCHES "^basal::(.*)")
      set_property(TARGET ${TARGET} APPEND PROPERTY BASAL_USED_MODULES basal_${CMAKE_MATCH_1})
      get_target_property(theirs basal_${CMAKE_MATCH_1} BASAL_HEADERS)
      list(APPEND ARG_HEADERS ${theirs})
      continue()
    endif()
    if(NOT lib IN_LIST known)
      message(FATAL_ERROR "${TARGET} links ${lib}, which cmake/basal_dependencies.cmake does not "
                          "declare: basal.pc would lack it.")
    endif()
    if(NOT BUILD_SHARED_LIBS OR lib IN_LIST ARG_PUBLIC)
      set_property(TARGET ${TARGET} APPEND PROPERTY BASAL_USED_DEPENDENCIES ${lib})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES ARG_HEADERS)
  set_target_properties(${TARGET} PROPERTIES BASAL_HEADERS "${ARG_HEADERS}")
endfunction()

# Called once, after the last module.
function(basal_install_package)
  get_property(modules GLOBAL PROPERTY basal_modules)
  add_library(basal INTERFACE)
  add_library(basal::basal ALIAS basal)
  set(together)
  set(apart)
  foreach(module IN LISTS modules)
    get_target_property(is_apart ${module} BASAL_APART)
    if(is_apart)
      list(APPEND apart ${module})
    else()
      list(APPEND together ${module})
    endif()
  endforeach()
  target_link_libraries(basal INTERFACE ${together})

  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/basal)
  foreach(module IN LISTS modules)
    set(file_sets)
    get_target_property(sets ${module} INTERFACE_HEADER_SETS)
    if(sets)
      set(file_sets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    endif()
    install(TARGETS ${module} EXPORT basal-targets ${file_sets})
  endforeach()
  install(TARGETS basal EXPORT basal-targets)
  install(EXPORT basal-targets NAMESPACE basal:: DESTINATION ${package_dir})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindHwloc.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindBdwGC.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindNats.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindPrometheusCore.cmake
          DESTINATION ${package_dir})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  _basal_write_config(${package_dir})
  _basal_write_pkg_config(basal MODULES ${together})
  foreach(module IN LISTS modules)
    get_target_property(used ${module} BASAL_USED_MODULES)
    if(NOT used)
      set(used)
    endif()
    string(REPLACE "_" "-" name ${module}) # basal-posse-gc.pc
    _basal_write_pkg_config(${name} TARGET ${module} MODULES ${used})
  endforeach()
endfunction()

function(_basal_write_config PACKAGE_DIR)
  include(CMakePackageConfigHelpers)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/basal-config.cmake @ONLY CONTENT [==[
# find_package(basal [COMPONENTS executors posse ...])
# Without components everything is asked for. CAF is needed for actors and what stands on it,
# Highway for the solver.
set(_basal_known
    executors mab priority posse posse_gc cluster solver actors solver_service observer remote)
set(_basal_wanted ${basal_FIND_COMPONENTS})
if(NOT _basal_wanted)
  set(_basal_wanted executors mab priority posse solver)
  if(@BASAL_WITH_ACTORS@)
    list(APPEND _basal_wanted actors solver_service)
  endif()
  if(@BASAL_WITH_GC@)
    list(APPEND _basal_wanted posse_gc)
  endif()
  if(@BASAL_HAS_CLUSTER@)
    list(APPEND _basal_wanted cluster)
  endif()
  if(@BASAL_HAS_OBSERVER@)
    list(APPEND _basal_wanted observer)
  endif()
  if(@BASAL_HAS_REMOTE@)
    list(APPEND _basal_wanted remote)
  endif()
endif()

# Was solver built with its direct method?
set(basal_SOLVER_WITH_DIRECT @BASAL_SOLVER_WITH_DIRECT@)

include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(Boost 1.74 CONFIG COMPONENTS context)
if("actors" IN_LIST _basal_wanted OR "solver_service" IN_LIST _basal_wanted
   OR "observer" IN_LIST _basal_wanted OR "remote" IN_LIST _basal_wanted)
  set(_basal_wants_actors ON)
endif()
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
if(_basal_wants_actors)
  find_dependency(CAF 0.17 COMPONENTS core)
  find_dependency(spdlog 1.10 CONFIG)
endif()
if("remote" IN_LIST _basal_wanted AND @BASAL_HAS_REMOTE@)
  find_dependency(CAF 0.17 COMPONENTS core io)
endif()
if(NOT "@BUILD_SHARED_LIBS@") # shared libraries bring along what only their sources name
  find_dependency(Hwloc)
  if("solver" IN_LIST _basal_wanted OR "solver_service" IN_LIST _basal_wanted)
    find_dependency(hwy 1.0.3 CONFIG)
  endif()
  if("posse_gc" IN_LIST _basal_wanted AND @BASAL_WITH_GC@)
    find_dependency(BdwGC 8.2)
  endif()
  if("cluster" IN_LIST _basal_wanted AND @BASAL_HAS_CLUSTER@)
    find_dependency(Nats 3.4)
  endif()
  if("observer" IN_LIST _basal_wanted AND @BASAL_HAS_OBSERVER@)
    find_dependency(civetweb 1.15 CONFIG)
    find_dependency(PrometheusCore)
  endif()
  if("remote" IN_LIST _basal_wanted AND @BASAL_HAS_REMOTE@)
    find_dependency(CAF 0.17 COMPONENTS core io openssl)
    find_dependency(OpenSSL 1.1.1)
  endif()
endif()
unset(_basal_wants_actors)
list(REMOVE_ITEM CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
include("${CMAKE_CURRENT_LIST_DIR}/basal-targets.cmake")

foreach(_basal_component IN LISTS _basal_wanted)
  if(TARGET basal::${_basal_component})
    set(basal_${_basal_component}_FOUND TRUE)
  else()
    set(basal_${_basal_component}_FOUND FALSE)
    if(basal_FIND_REQUIRED_${_basal_component})
      set(basal_FOUND FALSE)
      set(basal_NOT_FOUND_MESSAGE
          "this copy of basal has no module '${_basal_component}' (known: ${_basal_known})")
    endif()
  endif()
endforeach()
]==])
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/basal-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/basal-config.cmake
                ${PROJECT_BINARY_DIR}/basal-config-version.cmake
          DESTINATION ${PACKAGE_DIR})
endfunction()

# The needs of archives stand in Libs and Requires: a plain `pkg-config --libs basal` links without
# --static. Each module has a file of its own, which asks
# for those of the modules that it links; basal.pc asks for all that are not APART.
# _basal_write_pkg_config(NAME [TARGET module] [MODULES required...])
function(_basal_write_pkg_config NAME)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TARGET" "MODULES")
  set(libs)
  set(requires ${ARG_MODULES})
  list(TRANSFORM requires REPLACE "_" "-")
  if(ARG_TARGET)
    get_target_property(type ${ARG_TARGET} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND libs -l${ARG_TARGET})
    endif()
    get_target_property(used ${ARG_TARGET} BASAL_USED_DEPENDENCIES)
    if(NOT used)
      set(used)
    endif()
    foreach(dependency IN LISTS used)
      get_property(pc_libs GLOBAL PROPERTY basal_pc_libs_${dependency})
      get_property(pc_requires GLOBAL PROPERTY basal_pc_requires_${dependency})
      list(APPEND libs ${pc_libs})
      list(APPEND requires ${pc_requires})
    endforeach()
  endif()
  list(JOIN libs " " libs)
  list(JOIN requires ", " requires)
  # The prefix is relative to the file, so that `cmake --install --prefix` needs no rewrite.
  file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${NAME}.pc @ONLY CONTENT [==[
prefix=${pcfiledir}/@up@.
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
solver_with_direct=@BASAL_SOLVER_WITH_DIRECT@

Name: @NAME@
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Requires: @requires@
Cflags: -I${includedir}
Libs: -L${libdir} @libs@
]==])
  install(FILES ${PROJECT_BINARY_DIR}/${NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
