#include "malloc_thresholds.hpp"

#include <cstddef>
#include <cstdlib>

namespace basal::executors {

namespace {

/// With 1 MiB, programs that sort or that send to many at once have still two to five times as many
/// page faults as with 4; with 30 they have not fewer.
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
