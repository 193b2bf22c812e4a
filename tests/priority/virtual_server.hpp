#pragma once

// One server and a clock that only it moves: what the order of a queue means for
// those who wait, computed instead of measured.

#include <cstddef>
#include <functional>
#include <vector>

#include <basal/priority/priority_queue.hpp>

namespace virtual_time {

struct job {
  double arrives_s;
  double runs_s;
  double key;
  double waited_s = -1; ///< written when it starts; negative: it has not
};

/// Runs `jobs`, sorted by arrival, one at a time in the order of their keys, until
/// `end_s`.
inline void serve(std::vector<job>& jobs, double end_s) {
  using queue_type = basal::priority::priority_queue<job*>;
  queue_type queue{{.capacity = jobs.size()}};
  queue_type::consumer server{queue, 0};
  double now = 0;
  std::size_t next = 0;
  while (now < end_s) {
    for (; next < jobs.size() && jobs[next].arrives_s <= now; ++next)
      queue.try_push(jobs[next].key, &jobs[next], 0);
    if (auto first = queue.try_pop(server)) {
      (*first)->waited_s = now - (*first)->arrives_s;
      now += (*first)->runs_s;
    } else if (next < jobs.size()) {
      now = jobs[next].arrives_s;
    } else {
      return;
    }
  }
}

} // namespace virtual_time
