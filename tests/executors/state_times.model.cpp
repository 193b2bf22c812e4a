// The times of an executor's states under controlled schedules: whatever a reader is told is of one
// moment, so that the states add up to the time since the first.

#include "model_support.hpp"

#include <numeric>

#include <basal/executors/detail/state_times.hpp>

using namespace model;
using namespace basal::executors;

namespace {

scenario one_reads(int changes) {
  return [=](run& r) {
    basic_state_times<atomic> times;
    times.enter(executor_state::running, 10);
    r.thread("executor", [&] {
      for (int i = 1; i <= changes; ++i)
        times.enter(static_cast<executor_state>(i % 3), 10 + 10 * static_cast<std::uint64_t>(i));
    });
    r.thread("reader", [&] {
      const auto seen = times.at(100);
      const auto all = std::accumulate(seen.begin(), seen.end(), std::uint64_t{0});
      check(all == 90, "is the sum of all states:", static_cast<int>(all));
    });
    r.go();
  };
}

} // namespace

TEST_CASE("what a reader sees of an executor's states adds up to the time since the first one") {
  verify("one reads, three changes", one_reads(3));
}
