#include <basal/actors/shutdown.hpp>

#include <basal/actors/detail/scheduler.hpp>
#include <basal/executors/event.hpp>

#include <caf/abstract_actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/local_actor.hpp>

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace basal::actors {

namespace {

using namespace std::chrono_literals;

// The printer behind `aout` has a thread and belongs to the system.
constexpr std::size_t own_threads = 1;

void add_name(std::vector<std::string>& names, const caf::strong_actor_ptr& pointer) {
  auto* actor = pointer->get();
  if (!actor->getf(caf::abstract_actor::is_registered_flag)) // hidden, or has ended
    return;
  const auto* local = dynamic_cast<caf::local_actor*>(actor);
  auto text = std::string{local != nullptr ? local->name() : "actor"} + " (id "
              + std::to_string(pointer->id()) + ")";
  if (std::find(names.begin(), names.end(), text) == names.end())
    names.push_back(std::move(text));
}

stragglers find_stragglers(caf::actor_system& system, scheduler& host) {
  stragglers result;
  result.running = system.registry().running();
  result.detached = system.detached_actors() - std::min(system.detached_actors(), own_threads);
  for (const auto& pointer : host.clock().waiting())
    add_name(result.names, pointer);
  for (const auto& [key, pointer] : system.registry().named_actors())
    if (pointer)
      add_name(result.names, pointer);
  return result;
}

} // namespace

std::string to_string(const stragglers& who) {
  auto result = std::to_string(who.running)
                + (who.running == 1 ? " actor has not ended, " : " actors have not ended, ")
                + std::to_string(who.detached) + " on threads of their own; known: ";
  if (who.names.empty())
    return result + "none";
  for (const auto& name : who.names)
    result += (&name == &who.names.front() ? "" : ", ") + name;
  return result;
}

std::optional<stragglers> await_all_actors_done(caf::actor_system& system,
                                                std::chrono::nanoseconds patience) {
  auto* host = scheduler::of(system);
  if (host == nullptr)
    throw std::logic_error("await_all_actors_done needs a system that runs on basal; make it from "
                           "a basal::actor_system_config");
  const auto deadline = executors::deadline_after(patience);
  // The registry's own wait has no deadline, and nobody else is told of an actor's end.
  for (auto pause = 1ms; system.registry().running() > 0; pause = std::min(2 * pause, 50ms)) {
    if (std::chrono::steady_clock::now() >= deadline)
      return find_stragglers(system, *host);
    std::this_thread::sleep_for(pause);
  }
  return std::nullopt;
}

} // namespace basal::actors
