#include <basal/executors/injection_queue.hpp>

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

void injection_queue::close() noexcept {
  std::lock_guard guard{mutex_};
  closed_ = true;
}

} // namespace basal::executors
