#include <basal/actors/detail/keep_logger.hpp>

#include <caf/actor_system.hpp>
#include <caf/intrusive_ptr.hpp>
#include <caf/logger.hpp>

#include <mutex>
#include <vector>

namespace basal::actors::detail {

void keep_logger(caf::actor_system& system) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<caf::intrusive_ptr<caf::logger>>;
  const std::lock_guard guard{mutex};
  kept.emplace_back(&system.logger());
  caf::logger::set_current_actor_system(nullptr);
}

} // namespace basal::actors::detail
