#include <basal/posse/task_group.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

namespace basal::posse::detail {

void refuse_foreign_group() {
  throw std::logic_error{
    "basal: a task group belongs to the body of its scope, and was used by "
    "one of its tasks or by a branch; a task that spawns takes a group of its own: "
    "tasks.spawn([&](basal::posse::task_group& own) { own.spawn(...); })"};
}

// Tasks may hold what nothing else does.
struct task_list::chunk : executors::visible_to_collector {
  chunk* older;
  std::size_t bytes; ///< behind this object
};

void task_list::clear() noexcept {
  for (std::size_t i = 0; i != count_; ++i)
    if (order_[i] != nullptr)
      order_[i]->~any_task();
  count_ = 0;
  if (newest_ == nullptr) {
    free_ = near_.data();
    free_bytes_ = near_bytes;
  } else {
    release(std::exchange(newest_->older, nullptr));
    free_ = newest_ + 1;
    free_bytes_ = newest_->bytes;
  }
}

void task_list::make_room() {
  auto wider = std::make_unique_for_overwrite<any_task*[]>(2 * room_);
  std::copy_n(order_, count_, wider.get());
  many_ = std::move(wider);
  order_ = many_.get();
  room_ *= 2;
}

void task_list::add_chunk(std::size_t bytes, std::size_t alignment) {
  constexpr std::size_t least = 1024;
  constexpr std::size_t most = 64 * 1024; // malloc maps larger ones, and unmaps them each time
  const auto wanted = newest_ == nullptr ? least : std::min(2 * newest_->bytes, most);
  const auto room = std::max(wanted, bytes + alignment);
  void* const memory = executors::visible_to_collector::operator new(sizeof(chunk) + room);
  newest_ = ::new (memory) chunk{{}, newest_, room};
  free_ = newest_ + 1;
  free_bytes_ = room;
  std::align(alignment, bytes, free_, free_bytes_);
}

void task_list::release_all() noexcept {
  clear();
  release(newest_);
}

void task_list::release(chunk* newest) noexcept {
  while (newest != nullptr)
    executors::visible_to_collector::operator delete(std::exchange(newest, newest->older));
}

} // namespace basal::posse::detail
