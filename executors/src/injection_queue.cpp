#include <basal/executors/detail/injection_queue.hpp>

#include <algorithm>
#include <iterator>

#include <basal/executors/detail/assert.hpp>

namespace basal::executors {

bool injection_queue::push(work_item item, bool ends_share) {
  std::lock_guard guard{mutex_};
  if (closed_)
    return false;
  items_.push_back({item, ends_share});
  size_.store(items_.size(), std::memory_order_seq_cst);
  return true;
}

void injection_queue::push_accepted(std::span<const work_item> items) {
  std::lock_guard guard{mutex_};
  items_.resize(items_.size() + items.size());
  std::transform(items.begin(), items.end(), items_.end() - std::ssize(items), [](work_item item) {
    return entry{item, false};
  });
  size_.store(items_.size(), std::memory_order_seq_cst);
}

work_item injection_queue::pop() noexcept {
  std::lock_guard guard{mutex_};
  if (items_.empty())
    return {};
  auto item = items_.front().item;
  items_.pop_front();
  size_.store(items_.size(), std::memory_order_seq_cst);
  return item;
}

std::size_t injection_queue::pop_share(std::size_t takers, std::span<work_item> out) noexcept {
  BASAL_ASSERT(takers > 0 && !out.empty(), "a share is somebody's, and has room");
  std::lock_guard guard{mutex_};
  if (items_.empty())
    return 0;
  const auto most = std::clamp<std::size_t>(items_.size() / takers, 1, out.size());
  std::size_t count = 0;
  for (bool ends = false; count < most && !ends; items_.pop_front()) {
    out[count++] = items_.front().item;
    ends = items_.front().ends_share;
  }
  size_.store(items_.size(), std::memory_order_seq_cst);
  return count;
}

void injection_queue::close() noexcept {
  std::lock_guard guard{mutex_};
  closed_ = true;
}

} // namespace basal::executors
