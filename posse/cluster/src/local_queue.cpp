#include "local_queue.hpp"

#include <algorithm>

#include <basal/executors/detail/assert.hpp>

namespace basal::cluster {

using detail::arrival;

void local_queue::add_worker(control_handler handler) {
  const std::lock_guard guard{mutex_};
  workers_.push_back(std::move(handler));
}

detail::shared_input local_queue::share(std::string_view bytes) {
  const auto hash = detail::hash_of(bytes);
  const std::lock_guard guard{mutex_};
  shared_[hash] = bytes;
  return {.hash = hash, .bytes = bytes.size(), .part_bytes = bytes.size()};
}

std::string local_queue::shared(const detail::shared_input& what) {
  const std::lock_guard guard{mutex_};
  const auto i = shared_.find(what.hash);
  if (i == shared_.end())
    throw error{errc::engine_failed, "what the items share is not there"};
  return std::string{i->second};
}

void local_queue::post(std::span<const std::string> messages) {
  {
    const std::lock_guard guard{mutex_};
    for (const auto& message : messages)
      waiting_.push_back({message, 0, {}});
  }
  work_came_.notify_all();
}

std::vector<arrival> local_queue::receive(std::size_t most, std::chrono::milliseconds wait) {
  BASAL_ASSERT(most > 0, "somebody who asks for results takes one at least");
  std::unique_lock lock{mutex_};
  result_came_.wait_for(lock, wait, [this] { return !results_.empty(); });
  std::vector<arrival> result;
  for (; !results_.empty() && result.size() < most; results_.pop_front())
    result.push_back(std::move(results_.front()));
  return result;
}

void local_queue::settle(std::span<const arrival>) {
}

std::size_t local_queue::outstanding() {
  const std::lock_guard guard{mutex_};
  return waiting_.size() + leased_.size();
}

void local_queue::tell(const detail::control_message& what) {
  std::vector<control_handler> workers;
  {
    const std::lock_guard guard{mutex_};
    workers = workers_;
  }
  for (const auto& worker : workers)
    worker(what);
}

std::vector<detail::worker_info> local_queue::workers() {
  std::vector<control_handler> workers;
  {
    const std::lock_guard guard{mutex_};
    workers = workers_;
  }
  std::vector<detail::worker_info> result;
  for (const auto& worker : workers)
    if (auto info
        = worker({.kind = detail::control_kind::who, .batch = {}, .text = {}, .reason = {}}))
      result.push_back(std::move(*info));
  return result;
}

void local_queue::withdraw() {
  const std::lock_guard guard{mutex_};
  waiting_.clear();
  leased_.clear();
}

std::size_t local_queue::max_message_bytes() const {
  return detail::max_body_bytes;
}

void local_queue::return_expired_locked(clock::time_point now) {
  for (auto i = leased_.begin(); i != leased_.end();) {
    if (i->second.expires <= now) {
      waiting_.push_front(std::move(i->second));
      i = leased_.erase(i);
    } else {
      ++i;
    }
  }
}

std::vector<leased_work> local_queue::fetch(std::size_t most, std::stop_token stop) {
  BASAL_ASSERT(most > 0, "somebody who asks for work takes one message at least");
  std::unique_lock lock{mutex_};
  for (;;) {
    const auto now = clock::now();
    return_expired_locked(now);
    if (stop.stop_requested())
      return {};
    if (!waiting_.empty())
      break;
    const auto came = [this] { return !waiting_.empty(); };
    if (leased_.empty()) {
      work_came_.wait(lock, stop, [&] { return came() || !leased_.empty(); });
    } else {
      auto next = clock::time_point::max();
      for (const auto& [token, e] : leased_)
        next = std::min(next, e.expires);
      work_came_.wait_until(lock, stop, next, came);
    }
  }
  std::vector<leased_work> result;
  for (; !waiting_.empty() && result.size() < most; waiting_.pop_front()) {
    auto& e = waiting_.front();
    ++e.deliveries;
    e.expires = clock::now() + lease_;
    const auto token = std::to_string(++last_token_);
    result.push_back({token, e.deliveries, e.message});
    leased_.emplace(token, std::move(e));
  }
  work_came_.notify_all(); // whoever waits for work waits for the end of these leases, too
  return result;
}

void local_queue::keep_alive(const std::string& token) {
  const std::lock_guard guard{mutex_};
  if (const auto i = leased_.find(token); i != leased_.end())
    i->second.expires = clock::now() + lease_;
}

void local_queue::complete(std::span<const completed_work> work) {
  {
    const std::lock_guard guard{mutex_};
    for (const auto& w : work) {
      if (w.result && !w.result->empty())
        results_.push_back({w.token, *w.result});
      const auto i = leased_.find(w.token);
      if (i == leased_.end())
        continue;
      if (!w.result) {
        BASAL_ASSERT(i->second.deliveries > 0, "what is given back was delivered");
        --i->second.deliveries; // nobody has tried it
        waiting_.push_front(std::move(i->second));
      }
      leased_.erase(i);
    }
  }
  result_came_.notify_one();
  work_came_.notify_all();
}

} // namespace basal::cluster
