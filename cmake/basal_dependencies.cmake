# What the modules need from outside, each with the text that goes into basal.pc.
# A module that links a library not declared here fails at configure time.
# A new one also needs its find_dependency line in basal_package.cmake and its
# Debian package in ./dev.
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
  basal_declare_dependency(CAF::core LIBS -lcaf_core)
  basal_declare_dependency(CAF::io LIBS -lcaf_io)
endif()
