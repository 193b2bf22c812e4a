#include "actor_watch.hpp"

#include "next_message.hpp"
#include "times_of_buckets.hpp"

#include <basal/actors/detail/scheduler.hpp>
#include <basal/executors/detail/assert.hpp>
#include <basal/executors/detail/demangled.hpp>
#include <basal/executors/detail/record_names.hpp>
#include <basal/executors/detail/tick_clock.hpp>

#include <caf/scheduled_actor.hpp>

#include <algorithm>
#include <map>
#include <new>
#include <span>
#include <string_view>
#include <typeinfo>

namespace basal::actors {

namespace {

using executors::tick_clock;

std::uint64_t ns_of(std::uint64_t ticks) noexcept {
  return static_cast<std::uint64_t>(tick_clock::to_duration(ticks).count());
}

caf::scheduled_actor* actor_of(caf::resumable& job) noexcept {
  const auto kind = job.subtype();
  return kind == caf::resumable::scheduled_actor || kind == caf::resumable::io_actor
           ? static_cast<caf::scheduled_actor*>(&job)
           : nullptr;
}

/// CAF's names of actors that have none of their own say less than their type does.
std::string name_of(const caf::resumable& job) {
  const auto* actor = dynamic_cast<const caf::local_actor*>(&job);
  const std::string_view given = actor != nullptr ? actor->name() : "";
  return given.empty() || given == "scheduled_actor" ? basal::detail::demangled(typeid(job).name())
                                                     : std::string{given};
}

/// The numbers of tallies, added up.
struct sums {
  busiest::numbers numbers{};

  void add(const busiest::numbers& more) noexcept {
    // Two are no counts, and the name is that of the longest.
    const bool longer = more[longest] > numbers[longest];
    const auto most_waited = std::max(numbers[mailbox], more[mailbox]);
    const auto most_long = std::max(numbers[longest], more[longest]);
    const auto message = longer ? more[longest_message] : numbers[longest_message];
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] += more[i];
    numbers[mailbox] = most_waited;
    numbers[longest] = most_long;
    numbers[longest_message] = message;
  }

  actor_stats stats(std::string name, std::uint64_t id) const {
    using names = basal::detail::record_names;
    actor_stats result;
    result.name = std::move(name);
    result.id = id;
    result.turns = numbers[turns];
    result.messages = numbers[messages];
    result.spawned = numbers[spawned];
    result.ended = numbers[ended];
    result.busy_ns = ns_of(numbers[busy]);
    result.mailbox = numbers[mailbox];
    result.longest_ns = numbers[longest];
    if (const auto message = numbers[longest_message]; message != 0 && message < names::count())
      result.longest_message = names::text(message);
    result.handlers = times(handlers_sum, first_bucket, id == 0);
    result.delays = times(delays_sum, first_bucket + time_buckets::size, id == 0);
    return result;
  }

private:
  enum place : std::size_t {
    turns,
    messages,
    spawned,
    ended,
    busy,
    mailbox,
    longest,
    longest_message,
    handlers_sum,
    delays_sum,
    first_bucket,
  };

  time_stats times(std::size_t sum, std::size_t first, bool with_limits) const {
    const auto buckets = std::span{numbers}.subspan(first).first<time_buckets::size>();
    return times_of_buckets(buckets, numbers[sum], with_limits);
  }
};

busiest::numbers copy_of(actor_tally& counts) noexcept {
  busiest::numbers result{};
  std::size_t at = 0;
  counts.for_each([&](auto& number) { result[at++] = number.load(std::memory_order_acquire); });
  return result;
}

} // namespace

// -- types ----------------------------------------------------------------------

actor_types::~actor_types() {
  for (std::size_t i = 0; i < count_.load(std::memory_order_relaxed); ++i)
    delete entries_[i];
}

std::size_t actor_types::slot_of(const void* key) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(key);
  return (address >> 4 ^ address >> 14) % slots;
}

actor_types::entry* actor_types::find(const void* key) noexcept {
  for (auto i = slot_of(key); slots_[i].key != nullptr; i = (i + 1) % slots)
    if (slots_[i].key == key)
      return slots_[i].found;
  return count_.load(std::memory_order_relaxed) > most ? entries_[most] : nullptr;
}

actor_types::entry* actor_types::of(const void* key, const caf::resumable& job) noexcept {
  if (auto* known = find(key))
    return known;
  const auto count = count_.load(std::memory_order_relaxed);
  try {
    auto* made = new entry{count < most ? name_of(job) : others, {}};
    entries_[count] = made;
    if (count < most) {
      auto i = slot_of(key);
      while (slots_[i].key != nullptr)
        i = (i + 1) % slots;
      slots_[i] = {key, made};
    }
    count_.store(count + 1, std::memory_order_release);
    return made;
  } catch (const std::bad_alloc&) {
    return nullptr; // not counted
  }
}

// -- one executor ------------------------------------------------------------------

actor_lane::actor_lane(std::size_t executor) noexcept
  : interval_(tick_clock::to_ticks(counted_every)), random_(0, executor) {
}

/// How many turns are left out, from none to twice as many as on average.
void actor_lane::draw() noexcept {
  drawn_weight_ = weight_;
  left_ = 1 + random_.below(2 * weight_ - 1);
}

/// Halves or doubles what a counted turn stands for, so that they come about `counted_every` apart.
void actor_lane::adapt(std::uint64_t begin, std::uint64_t ticks) noexcept {
  const auto apart = begin - picked_at_;
  picked_at_ = begin;
  if (is_long(ticks))
    weight_ = 1;
  else if (apart < interval_ / 2)
    weight_ = std::min(2 * weight_, most_weight);
  else if (apart > 2 * interval_)
    weight_ = std::max(weight_ / 2, std::uint64_t{1});
}

void actor_lane::delayed(caf::resumable& job, std::uint64_t ticks) noexcept {
  const auto ns = ns_of(ticks);
  const auto* actor = actor_of(job);
  const auto id = actor != nullptr ? actor->id() : 0;
  if (auto* type = types_.of(actor_types::key_of(job), job))
    type->counts.delays.add(ns, 1);
  if (auto* one = actors_.find(id); one != nullptr && id != 0)
    one->delays.add(ns, 1);
}

// -- one turn ------------------------------------------------------------------------

counted_turn::counted_turn(actor_lane& lane, executors::executor& self,
                           caf::resumable& job) noexcept
  : lane_(lane),
    self_(self),
    actor_(actor_of(job)),
    type_(lane.types_.of(actor_types::key_of(job), job)),
    weight_(lane.picked_weight_),
    id_(actor_ != nullptr ? actor_->id() : 0),
    begin_(self.last_look()),
    waited_(self.running().waited()),
    spawned_(actor_ != nullptr && !actor_->getf(caf::abstract_actor::is_initialized_flag)) {
}

std::size_t counted_turn::limit(std::size_t most) noexcept {
  resumed_at_ = self_.last_look();
  resumed_waited_ = self_.running().waited();
  if (actor_ == nullptr)
    return most;
  if (auto* flight = self_.flight())
    message_ = next_message_name(*actor_, *flight);
  const bool empty = actor_->mailbox().closed() || actor_->mailbox().blocked();
  waiting_ = empty ? 0 : actor_->mailbox().count();
  mailbox_ = std::max(mailbox_, waiting_);
  return messages_ == 0 ? 1 : std::clamp<std::size_t>(waiting_, 1, most);
}

bool counted_turn::handled(std::size_t messages) noexcept {
  if (type_ == nullptr || messages == 0)
    return false;
  const auto ticks = self_.last_look() - resumed_at_ - (self_.running().waited() - resumed_waited_);
  const auto ns = ns_of(ticks) / messages;
  const bool first = messages_ == 0 && actor_ != nullptr;
  messages_ += messages;
  type_->counts.see_handler(ns, weight_ * messages, message_);
  if (auto* one = lane_.actors_.find(id_); one != nullptr && id_ != 0)
    one->see_handler(ns, weight_ * messages, message_);
  return first;
}

void counted_turn::over(bool ended) noexcept {
  const auto ticks = self_.last_look() - begin_ - (self_.running().waited() - waited_);
  // A long turn is counted also where it is not picked, so it stands for itself.
  const auto weight = lane_.is_long(ticks) ? 1 : weight_;
  const auto count = [&](actor_tally& to) {
    actor_tally::add(to.turns, weight);
    actor_tally::add(to.messages, weight * messages_);
    actor_tally::add(to.busy_ticks, weight * ticks);
    actor_tally::add(to.spawned, spawned_ ? weight_ : 0);
    actor_tally::add(to.ended, ended ? weight_ : 0);
    to.see_mailbox(mailbox_);
  };
  if (type_ != nullptr) {
    count(type_->counts);
    constexpr std::size_t fine = std::size_t{1} << 20;
    const auto chance = static_cast<double>(lane_.random_.below(fine)) / fine;
    if (id_ != 0)
      if (auto* one = lane_.actors_.charge(id_, reinterpret_cast<std::uintptr_t>(type_),
                                           weight * ticks + 1, chance))
        count(*one);
  }
  lane_.adapt(begin_, ticks);
}

void passed_turn::was_long(actor_lane& lane, std::uint64_t messages) const noexcept {
  const auto busy = self_.last_look() - begin_ - (self_.running().waited() - waited_);
  if (!lane.is_long(busy))
    return;
  lane.left_ = lane.drawn_weight_ = lane.weight_ = 1; // turns are rare now
  if (auto* type = lane.types_.find(key_)) {
    actor_tally::add(type->counts.turns, 1);
    actor_tally::add(type->counts.messages, messages);
    actor_tally::add(type->counts.busy_ticks, busy);
  }
}

// -- all of them ------------------------------------------------------------------------

actor_watch::actor_watch(std::size_t executors)
  : longest_delay_(tick_clock::to_ticks(std::chrono::minutes{1})), lanes_(executors) {
}

actor_watch::~actor_watch() {
  for (auto& lane : lanes_)
    delete lane.load(std::memory_order_acquire);
}

void actor_watch::until(std::uint64_t ticks) noexcept {
  const auto present = tick_clock::now();
  auto before = until_.load(std::memory_order_relaxed);
  if (before == 0)
    since_.store(present, std::memory_order_relaxed);
  while (before < ticks
         && !until_.compare_exchange_weak(before, ticks, std::memory_order_relaxed)) {
  }
}

actor_lane* actor_watch::lane(const executors::executor& self) noexcept {
  BASAL_ASSERT(executors::executor::current() == &self, "a lane belongs to its executor's thread");
  BASAL_ASSERT(self.index() < lanes_.size(), "a system watches its own message executors");
  auto& mine = lanes_[self.index()];
  auto* known = mine.load(std::memory_order_relaxed); // only we write it
  if (known == nullptr) {
    known = new (std::nothrow) actor_lane{self.index()};
    mine.store(known, std::memory_order_release);
  }
  return known;
}

bool actor_watch::is_prolonged(std::uint64_t present) noexcept {
  auto end = until_.load(std::memory_order_relaxed);
  if (present <= end)
    return true;
  if (end != 0 // unless somebody prolongs it at this moment
      && until_.compare_exchange_strong(end, 0, std::memory_order_relaxed))
    times_next_.store(false, std::memory_order_relaxed);
  return false;
}

void actor_watch::wakes(const caf::resumable& job) noexcept {
  if (executors::executor::current() != nullptr)
    times_next_.store(false, std::memory_order_relaxed);
  const auto present = tick_clock::now();
  const auto old = std::max(since_.load(std::memory_order_relaxed), present - longest_delay_);
  probes_.place(&job, present, old);
}

std::uint64_t actor_watch::noted_delay_of(const caf::resumable& job,
                                          std::uint64_t present) noexcept {
  const auto noted = probes_.take(&job);
  // A note of a watch before this one says nothing.
  if (!noted || *noted < since_.load(std::memory_order_relaxed) || *noted >= present)
    return 0;
  return present - *noted;
}

std::vector<actor_stats> actor_watch::types() {
  std::map<std::string, sums> all;
  for (auto& lane : lanes_)
    if (auto* one = lane.load(std::memory_order_acquire))
      one->types().for_each(
        [&](actor_types::entry& type) { all[type.name].add(copy_of(type.counts)); });
  std::vector<actor_stats> result;
  for (const auto& [name, sum] : all)
    result.push_back(sum.stats(name, 0));
  return result;
}

std::vector<actor_stats> actor_watch::actors() {
  struct one {
    std::string name;
    sums counts;
  };
  std::map<std::uint64_t, one> all;
  for (auto& lane : lanes_)
    if (auto* found = lane.load(std::memory_order_acquire))
      found->actors().for_each(
        [&](std::uint64_t id, std::uint64_t type, const busiest::numbers& numbers) {
          auto& x = all[id];
          x.name = reinterpret_cast<const actor_types::entry*>(type)->name;
          x.counts.add(numbers);
        });
  std::vector<actor_stats> result;
  for (const auto& [id, x] : all)
    result.push_back(x.counts.stats(x.name, id));
  std::sort(result.begin(), result.end(),
            [](const actor_stats& a, const actor_stats& b) { return a.busy_ns > b.busy_ns; });
  constexpr std::size_t most = 64;
  if (result.size() > most)
    result.resize(most);
  return result;
}

void watch_actors(caf::actor_system& system, std::chrono::milliseconds time) {
  detail::system_core::of(system, "there are no actors to watch");
  if (auto* threaded = scheduler::of(system))
    threaded->watch().until(tick_clock::now() + tick_clock::to_ticks(time));
}

} // namespace basal::actors
