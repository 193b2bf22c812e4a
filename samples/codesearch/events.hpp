#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "descriptor.hpp"
#include "query.hpp"
#include "search.hpp"
#include "segment.hpp"
#include "skips.hpp"

namespace codesearch {

/// Sizes of the finished index.
struct index_summary {
  std::uint64_t files = 0;
  std::uint64_t folders = 0;
  std::uint64_t words = 0;    ///< distinct
  std::uint64_t includes = 0; ///< edges of the include graph
  index_totals totals;
  skip_log skips;
  std::chrono::duration<double> seconds{};
};

/// The answer to one query.
struct answer {
  struct line {
    hit where;
    std::string text;     ///< fit for a terminal
    bool readable = true; ///< false: `text` says why the line cannot be shown
  };

  query asked;
  std::vector<line> lines;                 ///< the best first
  std::size_t matches = 0;                 ///< files that hold all terms
  std::size_t files = 0;                   ///< files that were searched
  bool complete = false;                   ///< the index was finished
  std::chrono::duration<double> seconds{}; ///< from the question to the ranked files
};

struct indexing_failed {
  std::string message; ///< cause and remedy
};

using event = std::variant<std::shared_ptr<const index_summary>, std::shared_ptr<const answer>,
                           indexing_failed>;

/// How actors reach the main thread, which sleeps in poll(2): a queue with a descriptor that is
/// readable while something is in it. Any thread may post; one takes.
class event_queue {
public:
  /// Throws std::system_error if the process has no descriptor left.
  event_queue();

  void post(event e);

  /// All events since the last call, the oldest first.
  [[nodiscard]] std::vector<event> take();

  [[nodiscard]] int readable() const noexcept {
    return wake_.get();
  }

private:
  descriptor wake_;
  std::mutex mutex_;
  std::vector<event> events_; // guarded by mutex_
};

} // namespace codesearch
