#include <basal/posse/detail/function_record.hpp>

#include <mutex>

#include <basal/executors/detail/assert.hpp>

namespace basal::posse::detail {

namespace {

/// Guards enlisting; locked once per function of the program.
std::mutex enlisting;
std::uint32_t last_number = 0;

} // namespace

constinit std::atomic<function_record*> function_record::newest{nullptr};

void function_record::enlist(const char* its_name) noexcept {
  BASAL_ASSERT(its_name != nullptr, "a pure function has a name");
  std::lock_guard guard{enlisting};
  if (name.load(std::memory_order_relaxed) != nullptr)
    return;
  if (last_number + 1 < max_functions)
    number = ++last_number;
  next_ = newest.load(std::memory_order_relaxed);
  name.store(its_name, std::memory_order_release);
  newest.store(this, std::memory_order_release);
}

} // namespace basal::posse::detail
