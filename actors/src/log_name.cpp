#include "log_name.hpp"

#include <caf/logger.hpp>

#include <cstdint>

namespace basal::actors {

namespace {

/// @returns the name that this thread had; 0: it logs nothing, or under none
caf::actor_id set_log_name(caf::actor_id id) noexcept {
  auto* logger = caf::logger::current_logger();
  return logger != nullptr ? logger->thread_local_aid(id) : 0;
}

} // namespace

constinit const executors::carrier carries_log_name{
  [](executors::errand) noexcept -> void* {
    auto* logger = caf::logger::current_logger();
    return logger != nullptr ? reinterpret_cast<void*>(logger->thread_local_aid()) : nullptr;
  },
  nullptr,
  [](void* id, executors::executor&, executors::carrier_room& room) noexcept {
    new (&room) caf::actor_id{set_log_name(reinterpret_cast<std::uintptr_t>(id))};
  },
  [](executors::executor&, executors::carrier_room& room) noexcept {
    set_log_name(*std::launder(reinterpret_cast<caf::actor_id*>(&room)));
  },
};

} // namespace basal::actors
