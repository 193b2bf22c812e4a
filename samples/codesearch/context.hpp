#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "build.hpp"
#include "events.hpp"
#include "progress.hpp"

namespace codesearch {

/// State shared by all actors of one run and the main thread.
struct context {
  std::vector<std::string> roots;
  std::size_t readers = 1;
  std::size_t workers = 1;
  std::size_t buffer_bytes = std::size_t{4} << 20;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  stop_flag stop{false}; ///< raised by the main thread; ends long work between two files
  progress_counters progress;
  event_queue events;
};

using context_ptr = std::shared_ptr<context>;

} // namespace codesearch
