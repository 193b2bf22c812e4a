#include "malloc_thresholds.hpp"

#include <cstddef>
#include <cstdlib>

namespace basal::executors {

namespace {

/// With 1 MiB, actors that sort a vector and send its parts on have still three to four times as
/// many page faults as with 4; with 30 they have a quarter fewer at most.
constexpr std::size_t largest_kept = std::size_t{4} << 20;

} // namespace

void raise_malloc_thresholds() noexcept {
  [[maybe_unused]] static const bool once = [] {
    void* volatile block = std::malloc(largest_kept); // volatile: else both calls may be left out
    std::free(block);
    return true;
  }();
}

} // namespace basal::executors
