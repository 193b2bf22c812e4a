#include <basal/posse/detail/function_record.hpp>

#include <mutex>

namespace basal::posse::detail {

namespace {

/// Guards enlisting; written once per function of the program.
std::mutex enlisting;

/// Head of the list; a release store publishes a record and its link.
constinit std::atomic<function_record*> newest{nullptr};

} // namespace

void function_record::enlist(const char* its_name) noexcept {
  std::lock_guard guard{enlisting};
  if (name.load(std::memory_order_relaxed) != nullptr)
    return;
  next_ = newest.load(std::memory_order_relaxed);
  name.store(its_name, std::memory_order_release);
  newest.store(this, std::memory_order_release);
}

std::vector<function_stats> function_record::snapshot() {
  std::vector<function_stats> result;
  auto* r = newest.load(std::memory_order_acquire);
  for (; r != nullptr; r = r->next_)
    result.push_back({
      .name = r->name.load(std::memory_order_relaxed),
      .calls = r->calls.load(std::memory_order_relaxed),
      .offloaded = r->offloaded.load(std::memory_order_relaxed),
      .failed = r->failed.load(std::memory_order_relaxed),
      .thefts = r->thefts.load(std::memory_order_relaxed),
    });
  return result;
}

} // namespace basal::posse::detail
