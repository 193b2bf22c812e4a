#include <basal/actors/detail/clock.hpp>

#include <basal/actors/detail/timer_queue.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/thread_heritage.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor.hpp>
#include <basal/posse/effects.hpp>

#include <caf/abstract_actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/detail/set_thread_name.hpp>
#include <caf/logger.hpp>
#include <caf/sec.hpp>
#include <caf/system_messages.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace basal::actors {

namespace {

/// Tells the time of tick_clock's readings, at half the cost of asking steady_clock each time. Asks
/// it once a millisecond, so that an error of tick_clock's rate (some 10^-4) does not add up.
class tick_translator {
public:
  using clock_type = caf::actor_clock::clock_type;

  clock_type::time_point operator()(std::uint64_t ticks) noexcept {
    if (ticks - ticks_ > stretch_) {
      ticks_ = ticks;
      time_ = std::max(latest_, clock_type::now());
    }
    const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - ticks_));
    latest_ = time_ + clock_type::duration{static_cast<std::int64_t>(since * ns_per_tick_)};
    return latest_;
  }

private:
  double ns_per_tick_ = 1 / executors::tick_clock::per_nanosecond();
  std::uint64_t stretch_ = executors::tick_clock::to_ticks(std::chrono::milliseconds{1});
  std::uint64_t ticks_ = 0;
  clock_type::time_point time_{};
  clock_type::time_point latest_{}; // the last answer, since time does not go back
};

// No execution unit: the receiver is scheduled from outside, through the injection queue.
struct deliver {
  void operator()(detail::behaviour_timeout& what) const {
    what.self->get()->eq_impl(caf::make_message_id(), what.self, nullptr,
                              caf::timeout_msg{what.type, what.id});
  }

  void operator()(detail::request_timeout& what) const {
    what.self->get()->eq_impl(what.id, what.self, nullptr, caf::sec::request_timeout);
  }

  void operator()(detail::actor_message& what) const {
    what.receiver->enqueue(std::move(what.content), nullptr);
  }

  void operator()(detail::group_message& what) const {
    what.target->eq_impl(caf::make_message_id(), std::move(what.sender), nullptr,
                         std::move(what.content));
  }
};

} // namespace

clock::clock() : queue_(std::make_unique<detail::timer_queue>()) {
}

clock::~clock() {
  stop();
}

void clock::start(caf::actor_system& system, bool check_effects) {
  std::lock_guard guard{mutex_};
  BASAL_ASSERT(system_ == nullptr && !stopping_, "a clock starts once");
  system_ = &system;
  check_effects_ = check_effects;
  heritage_ = std::make_unique<executors::thread_heritage>();
  if (!queue_->empty())
    begin_locked();
}

/// On the thread that has scheduled the first entry.
void clock::begin_locked() {
  const executors::no_signals quiet;
  thread_ = std::thread{[this] {
    heritage_->take_on();
    CAF_SET_LOGGER_SYS(system_);
    caf::detail::set_thread_name("basal.clock");
    system_->thread_started();
    run();
    system_->thread_terminates();
  }};
}

void clock::stop() {
  {
    std::lock_guard guard{mutex_};
    BASAL_ASSERT(thread_.get_id() != std::this_thread::get_id(),
                 "a clock is not stopped by the thread that delivers");
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
  cancel_all();
}

caf::actor_clock::time_point clock::now() const noexcept {
  auto* self = executors::executor::current();
  if (self == nullptr)
    return clock_type::now();
  const auto ticks = executors::tick_clock::now();
  self->look(ticks);
  static thread_local tick_translator translate;
  return translate(ticks);
}

std::size_t clock::pending() const {
  std::lock_guard guard{mutex_};
  return queue_->size();
}

std::vector<caf::strong_actor_ptr> clock::waiting() const {
  std::lock_guard guard{mutex_};
  return queue_->waiting();
}

// The timer is made, and what it displaces destroyed, without the lock.
void clock::schedule(std::unique_ptr<detail::timer> what) {
  const auto due = what->due;
  detail::timer_queue::node displaced;
  std::unique_lock guard{mutex_};
  if (stopping_)
    return;
  if (system_ != nullptr && !thread_.joinable())
    begin_locked();
  displaced = queue_->add(what);
  const bool wakes = due < sleeps_until_;
  guard.unlock();
  if (wakes)
    changed_.notify_one();
}

void clock::set_ordinary_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type,
                                 std::uint64_t id) {
  schedule(detail::timer_queue::ordinary(t, {caf::strong_actor_ptr{self->ctrl()}, type, id}));
}

void clock::set_multi_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type,
                              std::uint64_t id) {
  schedule(detail::timer_queue::multi(t, {caf::strong_actor_ptr{self->ctrl()}, type, id}));
}

void clock::set_request_timeout(time_point t, caf::abstract_actor* self, caf::message_id id) {
  schedule(detail::timer_queue::request(t, {caf::strong_actor_ptr{self->ctrl()}, id}));
}

void clock::cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) {
  detail::timer_queue::node removed;
  std::lock_guard guard{mutex_};
  removed = queue_->cancel_ordinary(self->id(), type);
}

void clock::cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) {
  detail::timer_queue::node removed;
  std::lock_guard guard{mutex_};
  removed = queue_->cancel_request(self->id(), id);
}

void clock::cancel_timeouts(caf::abstract_actor* self) {
  std::vector<detail::timer_queue::node> removed;
  std::lock_guard guard{mutex_};
  removed = queue_->cancel_actor(self->id());
}

void clock::refuse_effect() const {
  if (check_effects_)
    posse::refuse_effect("sends a message for later");
}

void clock::schedule_message(time_point t, caf::strong_actor_ptr receiver,
                             caf::mailbox_element_ptr content) {
  refuse_effect();
  schedule(detail::timer_queue::message(
    t, detail::actor_message{std::move(receiver), std::move(content)}));
}

void clock::schedule_message(time_point t, caf::group target, caf::strong_actor_ptr sender,
                             caf::message content) {
  refuse_effect();
  schedule(detail::timer_queue::message(
    t, detail::group_message{std::move(target), std::move(sender), std::move(content)}));
}

void clock::cancel_all() {
  auto removed = std::make_unique<detail::timer_queue>();
  std::lock_guard guard{mutex_};
  queue_.swap(removed);
}

void clock::run() {
  std::unique_lock guard{mutex_};
  while (!stopping_) {
    const auto due = queue_->next_due();
    if (!due) {
      sleeps_until_ = time_point::max();
      changed_.wait(guard);
      continue;
    }
    if (now() < *due) {
      sleeps_until_ = *due;
      changed_.wait_until(guard, *due);
      continue;
    }
    sleeps_until_ = time_point::min(); // looks again by itself
    auto batch = queue_->take_due(now());
    guard.unlock();
    for (auto& node : batch)
      std::visit(deliver{}, node->what);
    batch.clear();
    guard.lock();
  }
}

} // namespace basal::actors
