#include "batch.hpp"

#include <algorithm>

#include <basal/executors/detail/assert.hpp>

namespace basal::cluster {

using detail::outcome;
using detail::outcome_kind;

namespace {

// A group of results costs one fdatasync, which takes a millisecond or so: few enough results that
// little is computed twice after a crash, and not so few that the disk is what a batch waits for.
constexpr std::size_t group_size = 64;
constexpr std::chrono::milliseconds group_time{50};

// Handing a message out and its result back takes half a millisecond or so of several processes'
// time, most of it the server's. Messages that keep a worker busy for this long make that 3 % where
// no CPU is left for it.
constexpr double message_seconds = 0.02;
constexpr std::size_t most_items = 64;

// Fewer items than take this long are not worth a message of their own, even where others wait.
constexpr double least_seconds = 0.0005;

// How many messages each executor should still have before it, so that all end at the same time.
constexpr std::size_t messages_ahead = 4;

// While nobody knows how long an item takes, each goes alone: these are enough for a while. If the
// first of them takes longer than a message should, all the others go alone anyway.
constexpr std::size_t first_messages = 16;
constexpr std::chrono::milliseconds first_wait{10};

constexpr double most_seconds = 1e9;

// Far below the megabyte that engines take, so that a few large items do not make a message that
// is refused.
constexpr std::size_t most_item_bytes = 256 << 10;

// How long nothing arrives before the engine is asked whether it still has our messages.
constexpr std::chrono::seconds look_interval{1};

constexpr std::chrono::milliseconds most_wait{100};
constexpr std::chrono::milliseconds verdict_wait{1};

// A check is worth waiting for at the end of a batch; a hundred of them are not.
constexpr std::size_t most_open_checks = 64;

std::int64_t unix_ms(std::chrono::system_clock::time_point t) {
  if (t == std::chrono::system_clock::time_point::max())
    return 0;
  return std::chrono::duration_cast<std::chrono::milliseconds>(t.time_since_epoch()).count();
}

} // namespace

batch::batch(const detail::batch_request& request, detail::item_queue& queue, detail::batch_id id,
             bool checks)
  : request_(request),
    options_(request.options),
    queue_(queue),
    id_(id),
    checks_(checks),
    referee_(request.function, request.shared, request.item),
    items_(static_cast<std::size_t>(request.items)) {
  manifest_.items = request.items;
}

std::uint32_t batch::number_of(const std::string& worker) {
  const auto [i, is_new]
    = numbers_.try_emplace(worker, static_cast<std::uint32_t>(workers_.size()));
  if (is_new)
    workers_.push_back(worker);
  return i->second;
}

void batch::resume(const detail::journal_entry& entry) {
  BASAL_ASSERT(next_ == 0 && messages_out_ == 0, "what the journal has is known before run()");
  if (entry.what.item >= items_.size())
    return;
  auto& state = items_[static_cast<std::size_t>(entry.what.item)];
  if (state.is != stage::done) {
    state.is = stage::done;
    ++ended_;
    ++manifest_.results;
    ++manifest_.resumed;
  }
  state.hash = detail::hash_of(entry.what.bytes);
  state.worker = number_of(entry.worker);
  early_[entry.what.item] = entry.what.bytes;
}

manifest batch::run(journal* kept) {
  if (options_.order == result_order::by_item) {
    flush_in_order();
  } else {
    for (auto& [item, bytes] : std::exchange(early_, {}))
      request_.deliver(item, bytes);
  }
  if (request_.function.open_shared && !finished())
    shared_ = queue_.share(request_.shared);
  while (!finished()) {
    if (options_.stop.stop_requested()) {
      commit(kept);
      throw error{errc::cancelled, "a stop was requested; " + std::to_string(manifest_.results)
                                     + " of " + std::to_string(items_.size())
                                     + " items have results"
                                     + (kept != nullptr ? ", which " + kept->path().string()
                                                            + " keeps: run the same again to go on"
                                                        : "")};
    }
    post_more();
    // Nothing but a verdict is awaited at the end: it does not end the wait for results.
    const auto wait = messages_out_ == 0 && referee_.open() > 0 ? verdict_wait
                      : is_early()                              ? first_wait
                                                                : most_wait;
    for (auto& arrived : queue_.receive(group_size, wait)) {
      try {
        take(detail::unsealed<detail::result_message>(arrived.message));
      } catch (const error&) {
        // Not one of ours, or damaged: its items come again.
      }
      if (unsettled_.empty())
        first_uncommitted_ = clock::now();
      unsettled_.push_back({std::move(arrived.token), {}});
      last_progress_ = clock::now();
      engine_was_empty_ = false;
    }
    for (const auto& v : referee_.verdicts())
      judge(v);
    if (uncommitted_.size() >= group_size || messages_out_ == 0
        || clock::now() - first_uncommitted_ > group_time)
      commit(kept);
    look_for_losses();
  }
  commit(kept);
  BASAL_ASSERT(manifest_.results + manifest_.poisoned.size() == items_.size(),
               "each item ends with a result or is given up");
  for (const auto worker : in_quarantine_)
    manifest_.quarantined.push_back(workers_[worker]);
  return std::move(manifest_);
}

/// Items that keep a worker busy for a while, but not so many that one worker has, at the end,
/// items that others could do.
std::size_t batch::bundle_size() const noexcept {
  if (mean_seconds_ < 0)
    return 1;
  const auto items_in = [this](double seconds) {
    const auto items = seconds / std::max(mean_seconds_, 1e-9);
    return items < most_items ? std::max<std::size_t>(1, static_cast<std::size_t>(items))
                              : most_items;
  };
  const auto left = items_.size() - static_cast<std::size_t>(next_);
  return std::clamp(left / std::max<std::size_t>(1, messages_ahead * executors_),
                    items_in(least_seconds), items_in(message_seconds));
}

/// Whether the first results may still tell how many items a message should have.
bool batch::is_early() const noexcept {
  return mean_seconds_ < 0 && clock::now() - begun_ < first_wait;
}

std::optional<std::uint64_t> batch::next_item() {
  for (; !again_.empty(); again_.pop_front()) {
    const auto item = again_.front();
    const auto& state = items_[static_cast<std::size_t>(item)];
    if (state.is == stage::waiting || state.suspect)
      return item;
  }
  while (next_ < items_.size() && items_[static_cast<std::size_t>(next_)].is != stage::waiting)
    ++next_;
  return next_ < items_.size() ? std::optional{next_} : std::nullopt;
}

void batch::post_more() {
  // In order of the items, those that are far ahead of the first missing one only fill memory.
  const auto horizon = options_.order == result_order::by_item
                         ? next_in_order_ + options_.window * most_items
                         : items_.size();
  // A group takes the engine as long as a single message: few groups, then.
  const auto most = is_early() ? std::min(options_.window, first_messages) : options_.window;
  if (messages_out_ > most - most / 4)
    return;
  std::vector<std::string> messages;
  while (messages_out_ + messages.size() < most) {
    detail::item_message message{.batch = id_,
                                 .function = request_.function.key,
                                 .shared = shared_,
                                 .tries_left = options_.tries,
                                 .deadline_ms = unix_ms(options_.deadline),
                                 .memory_limit = options_.memory_limit,
                                 .items = {}};
    std::size_t bytes = 0;
    for (const auto size = bundle_size(); message.items.size() < size;) {
      const auto item = next_item();
      if (!item || *item >= horizon)
        break;
      auto& state = items_[static_cast<std::size_t>(*item)];
      if (state.alone && !message.items.empty())
        break;
      auto encoded = request_.item(*item);
      bytes += encoded.size();
      if (bytes > most_item_bytes && !message.items.empty())
        break;
      if (!again_.empty() && again_.front() == *item)
        again_.pop_front();
      else
        ++next_;
      if (state.is == stage::waiting)
        state.is = stage::posted;
      message.tries_left = std::max(1U, options_.tries - std::min(state.tries, options_.tries));
      message.items.push_back({*item, std::move(encoded)});
      if (state.alone)
        break;
    }
    if (message.items.empty())
      break;
    messages.push_back(detail::sealed(message));
    if (messages.back().size() > queue_.max_message_bytes())
      throw error{errc::too_large,
                  "item " + std::to_string(message.items.front().item) + " makes a message of "
                    + std::to_string(messages.back().size()) + " bytes; the engine takes "
                    + std::to_string(queue_.max_message_bytes())
                    + ". Make items smaller, share what is large, or raise max_payload in the "
                      "server's configuration"};
  }
  if (messages.empty())
    return;
  queue_.post(messages);
  messages_out_ += messages.size();
}

void batch::again(std::uint64_t item, bool alone) {
  BASAL_ASSERT(item < items_.size(), "an item of the batch is posted once more");
  auto& state = items_[static_cast<std::size_t>(item)];
  if (state.is == stage::posted)
    state.is = stage::waiting;
  state.alone = alone;
  again_.push_back(item);
  ++manifest_.reposted;
}

void batch::take(const detail::result_message& message) {
  if (message.batch != id_)
    return;
  if (messages_out_ > 0)
    --messages_out_;
  const auto worker = number_of(message.worker);
  if (answered_.insert(worker).second)
    executors_ += message.executors;
  if (message.deliveries > 1)
    ++manifest_.redeliveries;
  for (const auto& what : message.outcomes) {
    if (what.item >= items_.size())
      continue;
    if (!(what.seconds >= 0 && what.seconds < most_seconds))
      continue; // nobody's clock
    manifest_.seconds += what.seconds;
    const auto& state = items_[static_cast<std::size_t>(what.item)];
    if (in_quarantine_.contains(worker)) {
      manifest_.seconds_lost += what.seconds;
      if (state.is == stage::posted)
        again(what.item, false);
      continue;
    }
    if (what.kind == outcome_kind::value)
      take_value(what.item, worker, what);
    else
      take_failure(what.item, message, what);
  }
}

void batch::take_value(std::uint64_t item, std::uint32_t worker, outcome what) {
  auto& state = items_[static_cast<std::size_t>(item)];
  const auto hash = detail::hash_of(what.bytes);
  // The mean forgets: what comes next resembles what came last.
  mean_seconds_
    = mean_seconds_ < 0 ? what.seconds : mean_seconds_ + (what.seconds - mean_seconds_) / 16;
  if (state.is == stage::done) {
    manifest_.seconds_lost += what.seconds;
    if (state.hash != hash) {
      ++manifest_.mismatches;
      if (checks_) {
        referee_.ask({item, state.worker, state.hash, true});
        referee_.ask({item, worker, hash, true});
      }
      return;
    }
    ++manifest_.duplicates;
    if (state.suspect) // somebody else says the same
      trust(state);
    return;
  }
  if (state.is == stage::poisoned) { // a late answer of somebody given up
    std::erase_if(manifest_.poisoned, [&](const auto& p) { return p.item == item; });
    BASAL_ASSERT(ended_ > 0, "an item that was given up has ended");
    --ended_;
  }
  state.is = stage::done;
  state.hash = hash;
  state.worker = worker;
  ++ended_;
  ++manifest_.results;
  record(worker, what);
  consider_check(item, worker);
}

void batch::trust(item_state& state) noexcept {
  BASAL_ASSERT(state.suspect && suspects_ > 0, "who is trusted again was suspect");
  state.suspect = false;
  --suspects_;
}

void batch::consider_check(std::uint64_t item, std::uint32_t worker) {
  if (!checks_ || options_.check_one_in == 0)
    return;
  const bool first = checked_once_.insert(worker).second;
  const bool its_turn
    = options_.check_one_in == 1
      || (item % options_.check_one_in == 0 && referee_.open() < most_open_checks);
  if (first || its_turn)
    referee_.ask({item, worker, items_[static_cast<std::size_t>(item)].hash});
}

void batch::take_failure(std::uint64_t item, const detail::result_message& message,
                         const outcome& what) {
  auto& state = items_[static_cast<std::size_t>(item)];
  manifest_.seconds_lost += what.seconds;
  if (state.is != stage::posted)
    return;
  const bool gave_up = what.kind == outcome_kind::gave_up;
  // Of several items at most one killed the worker: none of them is charged for it.
  if (!gave_up || message.outcomes.size() == 1)
    state.tries += gave_up ? std::max(1U, message.deliveries - 1) : 1;
  if (state.tries < options_.tries && what.kind != outcome_kind::late)
    return again(item, true);
  state.is = stage::poisoned;
  ++ended_;
  manifest_.poisoned.push_back({item, what.bytes});
  if (options_.order == result_order::by_item)
    flush_in_order();
}

void batch::judge(const verdict& v) {
  ++manifest_.checked;
  auto& state = items_[static_cast<std::size_t>(v.question.item)];
  if (!v.has_result) { // nobody here knows better
    if (state.suspect)
      trust(state);
    return;
  }
  const auto right = detail::hash_of(v.right);
  if (v.question.hash != right) {
    if (!v.question.counted)
      ++manifest_.mismatches;
    quarantine(v.question.worker, v.question.item);
  }
  if (state.is != stage::done || state.hash == right)
    return;
  state.hash = right;
  ++manifest_.corrected;
  if (state.suspect)
    trust(state);
  record(number_of("this process"),
         {.item = v.question.item, .kind = outcome_kind::value, .seconds = 0, .bytes = v.right});
}

void batch::quarantine(std::uint32_t worker, std::uint64_t item) {
  if (!in_quarantine_.insert(worker).second)
    return;
  queue_.tell({.kind = detail::control_kind::quarantine,
               .batch = id_,
               .text = workers_[worker],
               .reason = "its result of item " + std::to_string(item) + " of "
                         + request_.function.key.name
                         + " has other bits than the coordinator's own: bad memory, another "
                           "build, or a function that is not pure"});
  for (std::uint64_t i = 0; i < items_.size(); ++i) {
    auto& state = items_[static_cast<std::size_t>(i)];
    if (state.is != stage::done || state.worker != worker || state.suspect || i == item)
      continue;
    state.suspect = true;
    ++suspects_;
    again(i, false);
  }
}

void batch::record(std::uint32_t worker, const outcome& what) {
  BASAL_ASSERT(worker < workers_.size() && what.kind == outcome_kind::value,
               "what the journal keeps is the result of a known worker");
  if (uncommitted_.empty() && unsettled_.empty())
    first_uncommitted_ = clock::now();
  uncommitted_.push_back(
    {what.item, what.bytes, encode(detail::journal_entry{workers_[worker], what})});
}

void batch::commit(journal* kept) {
  if (kept != nullptr && !uncommitted_.empty()) {
    for (const auto& r : uncommitted_)
      kept->append(r.entry);
    kept->sync();
  }
  if (!unsettled_.empty())
    queue_.settle(std::exchange(unsettled_, {}));
  for (auto& r : std::exchange(uncommitted_, {}))
    deliver(r.item, std::move(r.bytes));
}

void batch::deliver(std::uint64_t item, std::string bytes) {
  if (options_.order == result_order::as_finished || item < next_in_order_) {
    request_.deliver(item, bytes);
    return;
  }
  early_[item] = std::move(bytes);
  flush_in_order();
}

void batch::flush_in_order() {
  for (; next_in_order_ < items_.size(); ++next_in_order_) {
    const auto i = early_.find(next_in_order_);
    if (i != early_.end()) {
      const auto bytes = std::move(i->second);
      early_.erase(i);
      request_.deliver(next_in_order_, bytes);
    } else if (items_[static_cast<std::size_t>(next_in_order_)].is != stage::poisoned) {
      return;
    }
  }
}

void batch::look_for_losses() {
  const auto now = clock::now();
  if (now - last_progress_ < look_interval || now < next_look_)
    return;
  next_look_ = now + look_interval;
  // Twice, since a result may be on its way when its message is done.
  const bool empty = queue_.outstanding() == 0;
  if (empty && engine_was_empty_ && referee_.open() == 0) {
    messages_out_ = 0;
    for (std::uint64_t i = 0; i < next_; ++i) {
      const auto& state = items_[static_cast<std::size_t>(i)];
      if (state.is == stage::posted || state.suspect)
        again(i, false);
    }
  }
  engine_was_empty_ = empty;
  if (now - last_progress_ > options_.patience)
    expect_worker();
}

void batch::expect_worker() const {
  const auto there = queue_.workers();
  const auto& wanted = request_.function.key;
  std::string others;
  for (const auto& worker : there) {
    bool quarantined = false;
    for (const auto number : in_quarantine_)
      quarantined = quarantined || workers_[number] == worker.name;
    for (const auto& key : worker.functions) {
      if (key == wanted && !quarantined)
        return; // it works on something long
      others += (others.empty() ? "" : ", ") + worker.name + " has " + key.name + ", version "
                + std::to_string(key.version)
                + (key == wanted ? ", and is in quarantine"
                   : key.name == wanted.name && key.version == wanted.version ? ", of other types"
                                                                              : "");
    }
  }
  throw error{errc::no_worker, "no worker has the function " + wanted.name + ", version "
                                 + std::to_string(wanted.version)
                                 + (others.empty() ? ": none answers" : "; " + others)
                                 + ". Start one and run the same again"};
}

} // namespace basal::cluster
