// Background work, in the order of its level and of how long its kind takes, on executors that have
// nothing else to do.
#include <basal/posse/runtime.hpp>
#include <basal/priority/priority.hpp>

#include <iostream>
#include <numeric>
#include <string>
#include <vector>

using basal::priority::background_pool;
using basal::priority::level;
using basal::priority::task_key;

int main() {
  basal::posse::runtime runtime;
  auto& background = background_pool::of(runtime.compute());
  auto report = background.submit({level::batch, task_key{"report"}}, [] {
    std::vector<long> sales(1'000'000, 3);
    return std::accumulate(sales.begin(), sales.end(), 0L);
  });
  auto preview = background.submit({level::interactive, task_key{"preview"}},
                                   [] { return std::string{"the first page"}; });
  std::cout << preview.get() << '\n'; // a thread sleeps here; in a handler the fiber waits
  std::cout << "sold: " << report.get() << '\n';
}
