# The functions with which modules, tests, benchmarks and samples are declared.

# Language level and warnings of everything that is built here.
# Private to each target, so that nothing of it reaches a consumer.
function(_basal_common TARGET)
  set_target_properties(${TARGET} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_features(${TARGET} PUBLIC cxx_std_20)
  target_compile_options(${TARGET} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
    # g++ 12 sees overlapping copies where std::string is assigned a literal (PR105329).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    # Whoever adds to an enum is shown every switch that must know of it.
    -Werror=switch
    # clang's -Wconversion warns of signs, too; in modules it may, see basal_add_module.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
    # clang looks into libstdc++ 12, whose std::stable_sort calls what it deprecates.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
    $<$<BOOL:${BASAL_WERROR}>:-Werror>)
endfunction()

# _basal_unity_build(TARGET)
# Several sources of TARGET, if it has several, are compiled at a time: with -O3 in half of the time
# where most of a source is CAF's headers. A build with CMAKE_UNITY_BUILD=OFF compiles each alone,
# and so shows what one fails to include. Not for executors, posse, mab and priority: what the
# compiler makes of their functions would depend on which sources stand together in a list.
function(_basal_unity_build TARGET)
  get_target_property(sources ${TARGET} SOURCES)
  list(LENGTH sources count)
  if(count GREATER 1 AND NOT DEFINED CMAKE_UNITY_BUILD)
    set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON)
  endif()
endfunction()

# The calling folder has programs that are compiled once and run for a second: so they are compiled
# in three fifths of the time that -O2 -g takes. The modules are compiled as ever. A precompiled
# header and the sources that reuse it have the same level: g++ 14 refuses others. By clang,
# BASAL_PROGRAM_FLAGS make it about half of that, but for tests that repeat what they do.
function(basal_quick_to_compile)
  add_compile_options($<$<CONFIG:RelWithDebInfo>:-O1> $<$<CONFIG:RelWithDebInfo>:-g1>
                      ${BASAL_PROGRAM_FLAGS})
endfunction()

# g++ hands ccache the name of the precompiled header only with this flag.
function(_basal_ccache_pch TARGET)
  target_compile_options(${TARGET} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# _basal_shared_library(TARGET)
# A shared library exports what installed headers declare, see exports.py, under the version of the
# package; calls inside of it do not go by the table of symbols. Its name holds the part of the
# version that changes when programs must be compiled anew: with each minor version before 1.0, with
# each major one from there on.
function(_basal_shared_library TARGET)
  set(compatible ${PROJECT_VERSION_MAJOR})
  if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(compatible 0.${PROJECT_VERSION_MINOR})
  endif()
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  get_target_property(headers ${TARGET} BASAL_HEADERS)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.map)
  add_custom_command(OUTPUT ${script}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/exports.py
            BASAL_${compatible} ${script} ${headers}
    DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.py ${headers}
    VERBATIM)
  target_sources(${TARGET} PRIVATE ${script})
  set_target_properties(${TARGET} PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${compatible}
    DEFINE_SYMBOL "" # objects are those of the archive
    INSTALL_RPATH $ORIGIN
    LINK_DEPENDS ${script})
  target_link_options(${TARGET} PRIVATE
    LINKER:--version-script=${script} LINKER:-Bsymbolic-functions LINKER:-z,defs
    LINKER:-z,relro,-z,now)
endfunction()

# basal_add_module(NAME
#   [HEADERS include/basal/NAME/x.hpp...]   public headers: installed, each must compile alone
#   [SOURCES src/x.cpp...]
#   [PUBLIC_LIBS ...]    modules and libraries that our headers name
#   [PRIVATE_LIBS ...]   those that only our sources name
#   [APART]              not in basal::basal and basal.pc: programs link it by name
#   [UNITY_BUILD])       compiled as _basal_unity_build says
#
# Creates basal_NAME (an archive, with BUILD_SHARED_LIBS a shared library, or an interface library
# while there are no sources), its alias basal::NAME, and adds it to the installed package.
function(basal_add_module NAME)
  cmake_parse_arguments(PARSE_ARGV 1 ARG
    "APART;UNITY_BUILD" "" "HEADERS;SOURCES;PUBLIC_LIBS;PRIVATE_LIBS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "basal_add_module(${NAME}): unknown ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(target basal_${NAME})
  if(ARG_SOURCES)
    add_library(${target} ${ARG_SOURCES})
    _basal_common(${target})
    # A user's shared library may hold our archives. Nobody replaces our functions when a
    # program starts, so they are inlined as in code that is not position independent.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>
      $<$<CXX_COMPILER_ID:Clang>:-Wsign-conversion>)
    if(ARG_UNITY_BUILD)
      _basal_unity_build(${target})
    endif()
    set(public PUBLIC)
    target_link_libraries(${target} PUBLIC ${ARG_PUBLIC_LIBS} PRIVATE ${ARG_PRIVATE_LIBS})
  elseif(ARG_PRIVATE_LIBS)
    message(FATAL_ERROR "basal_add_module(${NAME}): PRIVATE_LIBS without SOURCES")
  else()
    add_library(${target} INTERFACE)
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_link_libraries(${target} INTERFACE ${ARG_PUBLIC_LIBS})
    set(public INTERFACE)
  endif()
  add_library(basal::${NAME} ALIAS ${target})
  if(ARG_HEADERS)
    target_sources(${target} ${public}
      FILE_SET HEADERS BASE_DIRS include FILES ${ARG_HEADERS})
    set_target_properties(${target} PROPERTIES
      VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${NAME})
  if(ARG_APART)
    set_property(TARGET ${target} PROPERTY BASAL_APART ON)
  endif()
  basal_package_module(${target} PUBLIC ${ARG_PUBLIC_LIBS} PRIVATE ${ARG_PRIVATE_LIBS}
                       HEADERS ${ARG_HEADERS})
  if(BUILD_SHARED_LIBS AND ARG_SOURCES)
    _basal_shared_library(${target})
  endif()
endfunction()

set(_basal_tsan_caf ${PROJECT_SOURCE_DIR}/tests/support/tsan-caf.supp)

# basal_add_test(NAME MODULE/SUBJECT KIND contract|model|stress|regression
#   [TIMEOUT seconds]  default 60 (model: 240; compiled with BASAL_PROGRAM_FLAGS: 180)
#   [SOURCES x.cpp...] default SUBJECT.KIND.cpp (contract: SUBJECT.test.cpp)
#   [LIBS ...]         default basal::MODULE
#   [LABELS ...] [ENVIRONMENT A=b...] [ARGS ...]
#   [USES_CAF]         links CAF: gets the suppressions of tests/support/tsan-caf.supp
#   [RUN_SERIAL])      must not share the machine with other tests
#
# Builds one Catch2 program and registers it as the test MODULE.SUBJECT.KIND
# (contract: MODULE.SUBJECT.test) under the labels MODULE and KIND. The target
# has the same name: `ninja posse.fork_merge.test`.
function(basal_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG
    "USES_CAF;RUN_SERIAL" "NAME;KIND;TIMEOUT" "SOURCES;LIBS;LABELS;ENVIRONMENT;ARGS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "basal_add_test(${ARG_NAME}): unknown ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_NAME MATCHES "^[a-z0-9_]+/[a-z0-9_/]+$")
    message(FATAL_ERROR "basal_add_test: NAME must be module/subject, not '${ARG_NAME}'")
  endif()
  if(NOT ARG_KIND MATCHES "^(contract|model|stress|regression)$")
    message(FATAL_ERROR "basal_add_test(${ARG_NAME}): "
                        "KIND must be contract, model, stress or regression, not '${ARG_KIND}'")
  endif()
  if(BASAL_TEST_THREADS_ONLY AND ARG_KIND STREQUAL "model")
    return() # a model's threads are coroutines of one
  endif()
  # These repeat what they do: what it takes to compile them better is less than that gains.
  set(works_long OFF)
  if(BASAL_PROGRAM_FLAGS AND ARG_KIND MATCHES "^(stress|model)$")
    set(works_long ON)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
    if(ARG_KIND STREQUAL "model") # tries thousands of interleavings, on a CPU that others use too
      set(ARG_TIMEOUT 240)
    elseif(BASAL_PROGRAM_FLAGS)
      set(ARG_TIMEOUT 180)
    endif()
  endif()
  string(REGEX REPLACE "/.*" "" module "${ARG_NAME}")
  string(REGEX REPLACE "^[^/]*/" "" subject "${ARG_NAME}")
  set(suffix ${ARG_KIND})
  if(suffix STREQUAL "contract")
    set(suffix test)
  endif()
  if(NOT ARG_SOURCES)
    set(ARG_SOURCES ${subject}.${suffix}.cpp)
  endif()
  if(NOT ARG_LIBS)
    set(ARG_LIBS basal::${module})
  endif()
  string(REPLACE "/" "." name "${ARG_NAME}.${suffix}")
  add_executable(${name} ${ARG_SOURCES})
  _basal_common(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} basal_test_support)
  if(works_long)
    # With SHELL: it comes last. Without, CMake drops it as a repetition where the folder has -O1,
    # which stands before the -O0 of BASAL_PROGRAM_FLAGS.
    target_compile_options(${name} PRIVATE SHELL:-O1)
  else()
    target_precompile_headers(${name} REUSE_FROM basal_test_support)
    _basal_ccache_pch(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  set(caf_label)
  if(module STREQUAL "actors" OR ARG_USES_CAF)
    set(caf_label actors)
    # TSAN_OPTIONS is a colon-separated list like PATH; without TSan nobody reads it.
    set_property(TEST ${name} PROPERTY ENVIRONMENT_MODIFICATION
      "TSAN_OPTIONS=path_list_append:suppressions=${_basal_tsan_caf}")
  endif()
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${ARG_TIMEOUT}
    RUN_SERIAL ${ARG_RUN_SERIAL}
    ENVIRONMENT "${ARG_ENVIRONMENT}")
  set(labels ${module} ${ARG_KIND} ${caf_label} ${ARG_LABELS})
  list(REMOVE_DUPLICATES labels)
  set_property(TEST ${name} PROPERTY LABELS ${labels})
  if(ARG_KIND STREQUAL "stress") # as many threads as there are CPUs
    set_property(TEST ${name} PROPERTY PROCESSORS 2)
  endif()
endfunction()

# With BASAL_MIMALLOC, malloc and new of the program TARGET are mimalloc's, those of libraries
# included: CAF's, too. Memory that one thread takes and another gives back, as messages are, is
# cheaper there. Never of our libraries: which malloc it has is a program's choice.
function(_basal_allocator TARGET)
  if(NOT BASAL_MIMALLOC)
    return()
  endif()
  find_package(mimalloc CONFIG QUIET)
  if(NOT mimalloc_FOUND)
    message(FATAL_ERROR "mimalloc not found, which BASAL_MIMALLOC asks for. Install it (Debian: "
                        "apt install libmimalloc-dev), or set -DBASAL_MIMALLOC=OFF.")
  endif()
  # No program names one of its symbols.
  target_link_options(${TARGET} PRIVATE LINKER:--no-as-needed)
  target_link_libraries(${TARGET} PRIVATE mimalloc)
endfunction()

# basal_add_bench(MODULE SOURCES x.bench.cpp... [LIBS ...])
# Builds bench_MODULE, which links basal::MODULE and the benchmark convention of
# bench/support (it brings main). `./dev bench MODULE` runs it.
function(basal_add_bench MODULE)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LIBS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES)
    message(FATAL_ERROR "basal_add_bench(${MODULE}): needs SOURCES; "
                        "unknown: '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  set(target bench_${MODULE})
  add_executable(${target} ${ARG_SOURCES})
  _basal_common(${target})
  if(TARGET basal::${MODULE})
    target_link_libraries(${target} PRIVATE basal::${MODULE})
  endif()
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} basal_bench_main)
  _basal_allocator(${target})
endfunction()

# basal_add_sample(NAME SOURCES ... [LIBS ...])
# Builds the program NAME. LIBS defaults to basal::basal.
function(basal_add_sample NAME)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LIBS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES)
    message(FATAL_ERROR "basal_add_sample(${NAME}): needs SOURCES; "
                        "unknown: '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT ARG_LIBS)
    set(ARG_LIBS basal::basal)
  endif()
  add_executable(${NAME} ${ARG_SOURCES})
  _basal_common(${NAME})
  _basal_unity_build(${NAME})
  target_link_libraries(${NAME} PRIVATE ${ARG_LIBS})
  _basal_allocator(${NAME})
endfunction()

# basal_add_internal_library(NAME SOURCES ... [LIBS ...])
# A static library that is never installed: the parts of a sample that tests link too.
function(basal_add_internal_library NAME)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LIBS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_SOURCES)
    message(FATAL_ERROR "basal_add_internal_library(${NAME}): needs SOURCES; "
                        "unknown: '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  add_library(${NAME} STATIC ${ARG_SOURCES})
  _basal_common(${NAME})
  _basal_unity_build(${NAME})
  target_link_libraries(${NAME} PUBLIC ${ARG_LIBS})
endfunction()
