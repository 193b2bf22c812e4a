#include <basal/solver/events.hpp>

#include <utility>

namespace basal::solver {

std::optional<received> subscription::try_next() {
  std::lock_guard guard{mutex_};
  if (lost_ > 0)
    return received{std::exchange(lost_, 0), std::nullopt};
  if (read_ == written_)
    return std::nullopt;
  return received{0, ring_[read_++ % ring_.size()]};
}

bool subscription::push(const solve_event& e) {
  bool first = false;
  bool gave_way = false;
  {
    std::lock_guard guard{mutex_};
    first = read_ == written_ && lost_ == 0;
    gave_way = written_ - read_ == ring_.size();
    if (gave_way) {
      ++read_;
      ++lost_;
      lost_total_.fetch_add(1, std::memory_order_relaxed);
    }
    ring_[written_++ % ring_.size()] = e;
  }
  if (first && on_event_)
    on_event_();
  return gave_way;
}

std::shared_ptr<subscription> event_bus::subscribe(std::size_t capacity,
                                                   std::function<void()> on_event) {
  if (capacity == 0)
    throw error{errc::bad_option, "event_bus: a subscription with room for 0 events would lose "
                                  "each of them; its capacity must be at least 1"};
  std::shared_ptr<subscription> added{new subscription{capacity, std::move(on_event)}};
  std::lock_guard guard{mutex_};
  auto next = std::make_shared<list>();
  for (const auto& other : *list_)
    if (!other.expired())
      next->push_back(other);
  next->push_back(added);
  subscribers_.store(next->size(), std::memory_order_relaxed);
  list_ = std::move(next);
  return added;
}

void event_bus::publish(const solve_event& e) {
  if (!has_subscribers())
    return;
  std::shared_ptr<const list> current;
  {
    std::lock_guard guard{mutex_};
    current = list_;
  }
  bool somebody_left = false;
  for (const auto& one : *current) {
    auto s = one.lock();
    if (s == nullptr)
      somebody_left = true;
    else if (s->push(e))
      lost_.fetch_add(1, std::memory_order_relaxed);
  }
  if (somebody_left) {
    std::lock_guard guard{mutex_};
    auto next = std::make_shared<list>();
    for (const auto& other : *list_)
      if (!other.expired())
        next->push_back(other);
    subscribers_.store(next->size(), std::memory_order_relaxed);
    list_ = std::move(next);
  }
}

} // namespace basal::solver
