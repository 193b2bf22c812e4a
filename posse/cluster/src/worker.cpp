#include "worker.hpp"

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/report.hpp>
#include <basal/posse/errors.hpp>

#include <algorithm>
#include <chrono>

namespace basal::cluster {

using detail::control_kind;
using detail::outcome;
using detail::outcome_kind;

namespace {

using clock = std::chrono::steady_clock;

constinit executors::report_kind bad_messages{executors::report_level::warning, "basal.cluster",
                                              "messages that are no items"};
constinit executors::report_kind failed_hand_ins{executors::report_level::warning, "basal.cluster",
                                                 "results that could not be handed in yet"};

// A server that is away comes back, or it does not: asking more often helps nobody.
constexpr std::chrono::milliseconds retry_interval{200};

// How long a worker that is to end tries to hand in what it has finished. Others have its items
// after the lease anyway.
constexpr std::chrono::seconds farewell{10};

// Batches that take turns on one worker: each keeps its matrix.
constexpr std::size_t most_opened = 4;

/// Deadlines travel as Unix time, since other clocks differ from machine to machine.
clock::time_point local_deadline(std::int64_t unix_ms) {
  if (unix_ms == 0)
    return clock::time_point::max();
  const std::chrono::sys_time<std::chrono::milliseconds> when{std::chrono::milliseconds{unix_ms}};
  const auto left = when - std::chrono::system_clock::now();
  if (left > std::chrono::years{1}) // any number may have been written; it must not overflow
    return clock::time_point::max();
  return clock::now() + std::chrono::duration_cast<clock::duration>(left);
}

std::uint64_t smaller_limit(std::uint64_t a, std::uint64_t b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

} // namespace

const executors::work_ops worker::ops{
  .run =
    [](void* object, executors::executor&) noexcept {
      const std::unique_ptr<job> j{static_cast<job*>(object)};
      auto& owner = *j->owner;
      owner.perform(*j);
      owner.leave();
    },
  .discard = [](void* object) noexcept { delete static_cast<job*>(object); },
  .kind = "items of a cluster"};

worker::worker(std::string name, const registry& functions, posse::runtime& runtime)
  : name_(std::move(name)),
    functions_(functions),
    runtime_(runtime),
    most_running_(runtime.compute().size()),
    most_unfinished_(2 * most_running_),
    most_in_hand_(2 * most_unfinished_) {
}

worker_report worker::run(work_source& source, std::stop_token stop) {
  const std::stop_callback also{stop, [this] { quarantine_.request_stop(); }};
  const auto end = quarantine_.get_token();
  std::jthread keeper{[&](std::stop_token t) { keep(source, t); }};
  std::jthread completer{[&](std::stop_token t) { hand_in(source, t); }};
  while (!end.stop_requested()) {
    std::size_t free = 0;
    {
      std::unique_lock lock{mutex_};
      // Results on their way to the engine take no executor: others may come in the meantime.
      const auto unfinished = [this] { return waiting_.size() + running_; };
      room_.wait(lock, end, [&] {
        return unfinished() < most_unfinished_ && in_hand_.size() < most_in_hand_;
      });
      free = std::min(most_unfinished_ - unfinished(), most_in_hand_ - in_hand_.size());
    }
    if (end.stop_requested())
      break;
    for (auto& work : source.fetch(free, end))
      accept(source, std::move(work));
  }
  give_back_waiting();
  completer.request_stop(); // it leaves when nothing is in hand
  completer.join();
  keeper.request_stop();
  keeper.join();
  const std::lock_guard guard{mutex_};
  return report_;
}

void worker::accept(work_source& source, leased_work work) {
  auto j = std::make_unique<job>(job{this, std::move(work), {}, {}, {}});
  const auto token = j->work.token;
  try {
    j->message = detail::unsealed<detail::item_message>(j->work.message);
  } catch (const error& e) {
    // A message that this version cannot read: its sender would not understand an answer either.
    bad_messages(e.what());
    finish(token, std::string{});
    return;
  }
  {
    const std::lock_guard guard{mutex_};
    in_hand_.emplace(token, j.get());
  }
  work_.notify_one(); // the keeper sleeps while nothing is in hand
  try {
    j->shared = open_shared(source, j->message);
  } catch (const error& e) {
    detail::result_message result = empty_result(*j);
    for (const auto& item : j->message.items)
      result.outcomes.push_back({item.item, outcome_kind::failed, 0, e.what()});
    finish(token, detail::sealed(result));
    return;
  }
  const std::lock_guard guard{mutex_};
  waiting_.push_back(std::move(j));
  launch_locked();
}

/// Fetched once for all items of a batch, while the keeper keeps the message.
std::shared_ptr<const void> worker::open_shared(work_source& source,
                                                const detail::item_message& message) {
  const auto* function = functions_.find(message.function);
  if (function == nullptr || !function->open_shared)
    return nullptr;
  const auto known = std::find_if(opened_.begin(), opened_.end(), [&](const opened& o) {
    return o.input == message.shared && o.function == message.function;
  });
  if (known != opened_.end())
    return known->value;
  if (message.shared.bytes > detail::most_shared_bytes)
    throw error{errc::too_large, "what its items share is larger than a worker takes"};
  opened_.push_front(
    {message.function, message.shared, function->open_shared(source.shared(message.shared))});
  if (opened_.size() > most_opened)
    opened_.pop_back();
  return opened_.front().value;
}

detail::result_message worker::empty_result(const job& j) const {
  return {.batch = j.message.batch,
          .worker = name_,
          .executors = static_cast<std::uint32_t>(most_running_),
          .deliveries = j.work.deliveries,
          .outcomes = {}};
}

/// Begins what waits, as long as executors are free.
void worker::launch_locked() {
  while (running_ < most_running_ && !waiting_.empty()) {
    auto j = std::move(waiting_.front());
    waiting_.pop_front();
    if (runtime_.compute().submit({j.get(), &ops})) {
      static_cast<void>(j.release());
      ++running_;
    } else {
      finish_locked(j->work.token, std::nullopt);
    }
  }
}

/// The end of a job. The worker may be gone when this returns: nothing of it is touched afterwards.
void worker::leave() {
  const std::lock_guard guard{mutex_};
  BASAL_ASSERT(running_ > 0, "a job that ends was running");
  --running_;
  launch_locked();
  room_.notify_one();
  done_.notify_one(); // at the end it waits for what runs
}

void worker::give_back_waiting() {
  const std::lock_guard guard{mutex_};
  for (const auto& j : std::exchange(waiting_, {}))
    finish_locked(j->work.token, std::nullopt);
}

void worker::perform(job& j) {
  const auto token = j.work.token;
  const auto* function = functions_.find(j.message.function);
  if (function == nullptr)
    return finish(token, std::nullopt);

  const auto& message = j.message;
  auto result = empty_result(j);
  // Somebody may have died of one of the items. Of several, nobody knows which: each alone, then.
  const auto tries
    = message.items.size() > 1 ? std::min(message.tries_left, 2U) : message.tries_left;
  if (j.work.deliveries > tries) {
    for (const auto& item : message.items)
      result.outcomes.push_back(
        {item.item, outcome_kind::gave_up, 0,
         "it was given to workers " + std::to_string(j.work.deliveries - 1)
           + " times, and none of them has answered: it may be what they died of"});
  } else {
    const posse::call_options options{.stop = j.stop.get_token(),
                                      .deadline = local_deadline(message.deadline_ms),
                                      .memory_limit = static_cast<std::size_t>(smaller_limit(
                                        message.memory_limit, runtime_.config().memory_limit))};
    for (const auto& item : message.items) {
      result.outcomes.push_back(attempt(*function, j.shared.get(), item, options));
      if (j.stop.stop_requested())
        return finish(token, std::string{});
    }
  }
  {
    const std::lock_guard guard{mutex_};
    report_.items += result.outcomes.size();
    report_.failures += static_cast<std::uint64_t>(
      std::count_if(result.outcomes.begin(), result.outcomes.end(),
                    [](const outcome& o) { return o.kind != outcome_kind::value; }));
  }
  finish(token, detail::sealed(result));
}

outcome worker::attempt(const detail::registered& function, const void* shared,
                        const detail::posted_item& item, const posse::call_options& options) {
  outcome result{.item = item.item, .kind = outcome_kind::value, .seconds = 0, .bytes = {}};
  const auto begin = clock::now();
  try {
    result.bytes = function.run(runtime_, options, shared, item.bytes);
  } catch (const posse::cancelled& e) {
    result.kind
      = e.reason() == posse::cancel_reason::deadline ? outcome_kind::late : outcome_kind::failed;
    result.bytes = e.what();
  } catch (const std::exception& e) {
    result.kind = outcome_kind::failed;
    result.bytes = e.what();
  } catch (...) {
    result.kind = outcome_kind::failed;
    result.bytes = "an exception that is no std::exception";
  }
  result.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return result;
}

/// No result: the message goes back. An empty one: it is done without.
void worker::finish(const std::string& token, std::optional<std::string> result) {
  const std::lock_guard guard{mutex_};
  finish_locked(token, std::move(result));
}

void worker::finish_locked(const std::string& token, std::optional<std::string> result) {
  in_hand_[token] = nullptr; // as it may be already: the network can deliver a message twice
  if (!result)
    ++report_.given_back;
  finished_.push_back({token, std::move(result)});
  done_.notify_one();
}

void worker::keep(work_source& source, std::stop_token stop) {
  const auto interval = source.lease() / 3;
  BASAL_ASSERT(interval.count() > 0, "a lease is long enough to be prolonged in time");
  std::unique_lock lock{mutex_};
  while (work_.wait(lock, stop, [this] { return !in_hand_.empty(); })) {
    std::vector<std::string> tokens;
    for (const auto& [token, j] : in_hand_)
      tokens.push_back(token);
    lock.unlock();
    for (const auto& token : tokens)
      source.keep_alive(token);
    lock.lock();
    work_.wait_for(lock, stop, interval, [] { return false; });
  }
}

void worker::hand_in(work_source& source, std::stop_token stop) {
  std::optional<clock::time_point> patience;
  std::unique_lock lock{mutex_};
  for (;;) {
    done_.wait(lock, stop, [this] { return !finished_.empty(); });
    if (finished_.empty()) { // a stop was requested
      const auto all_done = [this] { return in_hand_.empty() && running_ == 0; };
      done_.wait(lock, [&] { return !finished_.empty() || all_done(); });
      if (finished_.empty())
        return;
    }
    auto group = std::exchange(finished_, {});
    lock.unlock();
    for (;;) {
      try {
        source.complete(group);
        break;
      } catch (const error& e) {
        failed_hand_ins(e.what());
        if (stop.stop_requested() && !patience)
          patience = clock::now() + farewell;
        if (patience && clock::now() > *patience)
          break;
        std::this_thread::sleep_for(retry_interval);
      }
    }
    lock.lock();
    for (const auto& done : group)
      in_hand_.erase(done.token);
    room_.notify_one();
  }
}

std::optional<detail::worker_info> worker::obey(const detail::control_message& told) {
  switch (told.kind) {
  case control_kind::who: {
    detail::worker_info result{name_, {}};
    for (const auto& f : functions_.functions())
      result.functions.push_back(f.key);
    return result;
  }
  case control_kind::cancel: {
    const std::lock_guard guard{mutex_};
    for (const auto& [token, j] : in_hand_)
      if (j != nullptr && j->message.batch == told.batch)
        j->stop.request_stop();
    return std::nullopt;
  }
  case control_kind::quarantine: {
    if (told.text != name_)
      return std::nullopt;
    {
      const std::lock_guard guard{mutex_};
      report_.quarantine = told.reason;
    }
    quarantine_.request_stop();
    return std::nullopt;
  }
  }
  return std::nullopt;
}

} // namespace basal::cluster
