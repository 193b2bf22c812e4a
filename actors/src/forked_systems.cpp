#include "forked_systems.hpp"

#include <caf/actor_system.hpp>

#include <pthread.h>

#include <mutex>
#include <vector>

namespace basal::actors {

namespace {

struct entry {
  caf::actor_system* system;
  bool forked;
};

struct registry {
  std::mutex mutex;
  std::vector<entry> systems; ///< guarded by the mutex
};

/// Never destroyed: static systems end after whatever is made later than they.
registry& all() {
  static auto* const result = new registry;
  return *result;
}

} // namespace

void forked_systems::add(caf::actor_system& system) {
  auto& r = all();
  static std::once_flag registered;
  std::call_once(registered, [] { pthread_atfork(&before_fork, &in_parent, &in_child); });
  const std::lock_guard guard{r.mutex};
  r.systems.push_back({&system, false});
}

void forked_systems::remove(caf::actor_system& system) noexcept {
  auto& r = all();
  const std::lock_guard guard{r.mutex};
  std::erase_if(r.systems, [&](const entry& e) { return e.system == &system; });
}

bool forked_systems::has(caf::actor_system& system) noexcept {
  auto& r = all();
  const std::lock_guard guard{r.mutex};
  for (const auto& e : r.systems)
    if (e.system == &system)
      return e.forked;
  return false;
}

void forked_systems::before_fork() noexcept {
  all().mutex.lock();
}

void forked_systems::in_parent() noexcept {
  all().mutex.unlock();
}

void forked_systems::in_child() noexcept {
  for (auto& e : all().systems) {
    e.forked = true;
    e.system->await_actors_before_shutdown(false);
  }
  all().mutex.unlock();
}

} // namespace basal::actors
