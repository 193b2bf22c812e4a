// Memory that threads of a pool free and take again. Each case runs in a child process, since
// malloc's limits are the process's.

#include <basal/executors/executors.hpp>

#include "closure_task.hpp"
#include "support/catch.hpp"
#include "support/in_child.hpp"

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <malloc.h>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace basal::executors;

// Sanitizers have a malloc of their own, which glibc's limits are nothing to.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

long page_faults() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_minflt;
}

/// @returns of a thread that takes, fills and frees 2 MiB in blocks of 64 KiB, twenty times after
///   the first
long page_faults_of_an_executor() {
  long faults = 0;
  executor_pool pool{{.executors = 1}};
  completion done;
  const auto fill = [] {
    for (std::vector<std::vector<std::byte>> blocks; blocks.size() < 32;)
      blocks.emplace_back(std::size_t{64} << 10);
  };
  const bool accepted = pool.submit(task::make([&](executor&) {
    fill();
    const auto before = page_faults();
    for (int i = 0; i < 20; ++i)
      fill();
    faults = page_faults() - before;
    done.set();
  }));
  if (accepted)
    done.wait();
  return accepted ? faults : -1;
}

/// A page is of 64 KiB at most.
constexpr long few = 20 * 32 / 4;

/// Whether a block of 1 MiB comes from the kernel by itself, as glibc's does by default.
bool maps_large_blocks() {
  const auto before = mallinfo2().hblks;
  void* volatile block = std::malloc(std::size_t{1} << 20); // else compilers leave it out
  const bool maps = mallinfo2().hblks > before;
  std::free(block);
  return maps;
}

} // namespace

TEST_CASE("what an executor frees it has again without page faults") {
  const auto [said, signal] = basal::test::in_child([] {
    const auto faults = page_faults_of_an_executor();
    std::cerr << (faults < 0 ? "refused" : faults < few ? "few" : "many");
  });
  CHECK(signal == 0);
  CHECK(said == "few");
}

TEST_CASE("what the program has set of malloc stays") {
  const auto [said, signal] = basal::test::in_child([] {
    mallopt(M_TRIM_THRESHOLD, 128 << 10);
    const executor_pool pool{{.executors = 1}};
    std::cerr << (maps_large_blocks() ? "set by the program" : "set by the pool");
  });
  CHECK(signal == 0);
  CHECK(said == "set by the program");
}

#endif
