#include <basal/executors/detail/injection_queue.hpp>

#include <algorithm>

#include <basal/executors/detail/assert.hpp>

namespace basal::executors {

bool injection_queue::push(work_item item) {
  std::lock_guard guard{mutex_};
  if (closed_)
    return false;
  items_.push_back(item);
  size_.store(items_.size(), std::memory_order_seq_cst);
  return true;
}

void injection_queue::push_accepted(std::span<const work_item> items) {
  std::lock_guard guard{mutex_};
  items_.insert(items_.end(), items.begin(), items.end());
  size_.store(items_.size(), std::memory_order_seq_cst);
}

work_item injection_queue::pop() noexcept {
  std::lock_guard guard{mutex_};
  if (items_.empty())
    return {};
  auto item = items_.front();
  items_.pop_front();
  size_.store(items_.size(), std::memory_order_seq_cst);
  return item;
}

std::size_t injection_queue::pop_share(std::size_t takers, std::span<work_item> out) noexcept {
  BASAL_ASSERT(takers > 0 && !out.empty(), "a share is somebody's, and has room");
  std::lock_guard guard{mutex_};
  if (items_.empty())
    return 0;
  auto count = std::clamp<std::size_t>(items_.size() / takers, 1, out.size());
  auto end = items_.begin() + static_cast<std::ptrdiff_t>(count);
  std::copy(items_.begin(), end, out.begin());
  items_.erase(items_.begin(), end);
  size_.store(items_.size(), std::memory_order_seq_cst);
  return count;
}

void injection_queue::close() noexcept {
  std::lock_guard guard{mutex_};
  closed_ = true;
}

} // namespace basal::executors
