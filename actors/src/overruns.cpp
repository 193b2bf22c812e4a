#include <basal/actors/overruns.hpp>

#include <basal/executors/tick_clock.hpp>

#include <caf/local_actor.hpp>
#include <caf/resumable.hpp>

#include <algorithm>
#include <new>
#include <string_view>

namespace basal::actors {

void overrun_log::add(caf::resumable* job, std::uint64_t ticks,
                      std::uint64_t quantum_ticks) noexcept {
  const auto* actor = dynamic_cast<caf::local_actor*>(job);
  std::string_view name = actor != nullptr ? actor->name() : "(no actor)";
  const auto ran = executors::tick_clock::to_duration(ticks);
  try {
    std::lock_guard guard{mutex_};
    auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      if (by_name_.size() >= max_names)
        name = other_names;
      found = by_name_.try_emplace(std::string{name}).first;
      found->second.name = name;
    }
    auto& record = found->second;
    ++record.overruns;
    record.quanta += ticks / quantum_ticks;
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(ran).count();
    record.longest_us = std::max(record.longest_us, static_cast<std::uint64_t>(us));
  } catch (const std::bad_alloc&) {
    // not counted by name; the executor's own counter has it
  }
}

std::vector<overrun_stats> overrun_log::snapshot() const {
  std::lock_guard guard{mutex_};
  std::vector<overrun_stats> result;
  for (const auto& [name, record] : by_name_)
    result.push_back(record);
  return result;
}

} // namespace basal::actors
