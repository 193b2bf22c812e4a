# Libraries from outside that the modules need, each with the text that goes into basal.pc. A module
# that links a library not declared here fails at configure time. A new one also needs its
# find_dependency line in basal_package.cmake and its Debian package in ./dev.
set(THREADS_PREFER_PTHREAD_FLAG OFF)
find_package(Threads REQUIRED)
basal_declare_dependency(Threads::Threads LIBS -pthread)

find_package(Boost 1.74 CONFIG QUIET COMPONENTS context)
if(NOT Boost_context_FOUND)
  message(FATAL_ERROR "Boost.Context 1.74 or newer not found. executors/ switches fibers with it. "
                      "Install it (Debian: apt install libboost-context-dev) or run ./dev setup.")
endif()
basal_declare_dependency(Boost::context LIBS -lboost_context)

find_package(Hwloc)
if(NOT Hwloc_FOUND)
  message(FATAL_ERROR "hwloc not found. executors/ asks it which CPUs share a core. "
                      "Install it (Debian: apt install libhwloc-dev) or run ./dev setup.")
endif()
basal_declare_dependency(Hwloc::Hwloc LIBS -lhwloc)

find_package(hwy 1.0.3 CONFIG QUIET)
if(NOT hwy_FOUND)
  message(FATAL_ERROR "Highway 1.0.3 or newer not found. solver/ compiles its kernels with it for "
                      "several instruction sets. Install it (Debian: apt install libhwy-dev) or "
                      "run ./dev setup.")
endif()
basal_declare_dependency(hwy::hwy REQUIRES libhwy)

# Eigen is compiled into solver's archive under a name of its own: whoever links it needs nothing.
set(BASAL_SOLVER_WITH_DIRECT OFF)
if(BASAL_SOLVER_DIRECT)
  find_package(Eigen3 3.4 QUIET NO_MODULE)
  if(TARGET Eigen3::Eigen)
    set(BASAL_SOLVER_WITH_DIRECT ON)
  elseif(NOT BASAL_SOLVER_DIRECT STREQUAL "AUTO")
    message(FATAL_ERROR "Eigen 3.4 not found. solver/'s direct method is made with it. Install it "
                        "(Debian: apt install libeigen3-dev) or run ./dev setup; "
                        "-DBASAL_SOLVER_DIRECT=OFF builds without that method.")
  endif()
endif()
message(STATUS "solver's direct method (BASAL_SOLVER_DIRECT): ${BASAL_SOLVER_WITH_DIRECT}")

if(BASAL_WITH_GC)
  find_package(BdwGC 8.2)
  if(NOT BdwGC_FOUND)
    message(FATAL_ERROR "posse_gc needs Boehm's collector; see the message above. "
                        "-DBASAL_WITH_GC=OFF builds everything else without it.")
  endif()
  basal_declare_dependency(BdwGC::BdwGC REQUIRES bdw-gc)
endif()

if(BASAL_WITH_ACTORS)
  find_package(CAF 0.17 COMPONENTS core io)
  if(NOT CAF_FOUND)
    message(FATAL_ERROR "actors/ needs CAF; see the message above. "
                        "-DBASAL_WITH_ACTORS=OFF builds everything below actors/ without it.")
  endif()
  find_package(spdlog 1.10 CONFIG QUIET)
  if(NOT spdlog_FOUND)
    message(FATAL_ERROR "spdlog 1.10 or newer not found. actors/ puts it behind the modules' "
                        "reports. Install it (Debian: apt install libspdlog-dev) or run "
                        "./dev setup.")
  endif()
  basal_declare_dependency(spdlog::spdlog REQUIRES spdlog)
  basal_declare_dependency(CAF::core LIBS -lcaf_core)
  basal_declare_dependency(CAF::io LIBS -lcaf_io)
endif()

set(BASAL_HAS_CLUSTER OFF)
if(BASAL_WITH_CLUSTER)
  find_package(Nats 3.4 QUIET)
  if(Nats_FOUND)
    set(BASAL_HAS_CLUSTER ON)
    basal_declare_dependency(Nats::Nats LIBS -lnats)
  elseif(NOT BASAL_WITH_CLUSTER STREQUAL "AUTO")
    message(FATAL_ERROR "posse/cluster/ needs NATS' C client, 3.4 or newer. Install it (Debian: "
                        "apt install libnats-dev) or run ./dev setup; "
                        "-DBASAL_WITH_CLUSTER=OFF builds everything else without it.")
  endif()
endif()
message(STATUS "cluster (BASAL_WITH_CLUSTER): ${BASAL_HAS_CLUSTER}")

set(BASAL_HAS_REMOTE OFF)
if(BASAL_WITH_ACTORS AND BASAL_WITH_REMOTE)
  find_package(CAF 0.17 QUIET COMPONENTS core io openssl)
  find_package(OpenSSL 1.1.1 QUIET)
  if(TARGET CAF::openssl AND OpenSSL_FOUND)
    set(BASAL_HAS_REMOTE ON)
    basal_declare_dependency(CAF::openssl LIBS -lcaf_openssl)
    basal_declare_dependency(OpenSSL::SSL REQUIRES openssl)
  elseif(NOT BASAL_WITH_REMOTE STREQUAL "AUTO")
    message(FATAL_ERROR "actors/remote/ needs CAF's OpenSSL module and OpenSSL. Install them "
                        "(Debian: apt install libcaf-dev libssl-dev) or run ./dev setup; "
                        "-DBASAL_WITH_REMOTE=OFF builds everything else without them.")
  endif()
endif()
message(STATUS "remote (BASAL_WITH_REMOTE): ${BASAL_HAS_REMOTE}")

# nlohmann/json is compiled into the observer's archive: whoever links it needs nothing.
set(BASAL_HAS_OBSERVER OFF)
if(BASAL_WITH_ACTORS AND BASAL_WITH_OBSERVER)
  # Of prometheus-cpp the core is enough. Its package file looks for what the rest needs, curl and
  # zlib, which Debian's package does not bring.
  find_package(civetweb 1.15 CONFIG QUIET)
  find_package(nlohmann_json 3.11 CONFIG QUIET)
  find_package(PrometheusCore QUIET)
  if(civetweb_FOUND AND nlohmann_json_FOUND AND PrometheusCore_FOUND)
    set(BASAL_HAS_OBSERVER ON)
    basal_declare_dependency(civetweb::civetweb LIBS -lcivetweb)
    basal_declare_dependency(Prometheus::Core REQUIRES prometheus-cpp-core)
  elseif(NOT BASAL_WITH_OBSERVER STREQUAL "AUTO")
    message(FATAL_ERROR "actors/observer/ needs civetweb 1.15, nlohmann/json 3.11 and "
                        "prometheus-cpp's core. Install them (Debian: apt install libcivetweb-dev "
                        "nlohmann-json3-dev prometheus-cpp-dev) or run ./dev setup; "
                        "-DBASAL_WITH_OBSERVER=OFF builds everything else without them.")
  endif()
endif()
message(STATUS "observer (BASAL_WITH_OBSERVER): ${BASAL_HAS_OBSERVER}")
