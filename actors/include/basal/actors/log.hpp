#pragma once

// The modules' reports in a program with actors: each module has an spdlog logger.

#include <basal/actors/log_options.hpp>

#include <spdlog/logger.h>

#include <array>
#include <atomic>

namespace basal::actors {

/// The logger of a module.
///
/// The first call, made by the first actor system at the latest, takes the loggers that
/// `spdlog::get` finds under their names, and makes and registers the others: on standard error, in
/// spdlog's format, at the level that SPDLOG_LEVEL gives them ("debug", "info,basal.posse=debug"),
/// else at `info`. A program that wants another sink registers its own logger before, or changes
/// `spdlog::get("basal.posse")->sinks()` while nothing else runs. They live as long as the process.
/// Any thread.
spdlog::logger& logger_of(log_module module) noexcept;

namespace detail {

// Written once by the first logger_of(), whose release store publishes the logger to the acquire
// load in logs().
extern constinit std::array<std::atomic<spdlog::logger*>, log_module_count> made_loggers;

} // namespace detail

/// Whether a line of this level is logged: two loads and a comparison, where spdlog 1.10 calls a
/// function before it knows. For lines that are frequent:
/// `if (logs(m, log_level::debug)) logger_of(m).debug("{} timers", n);`. Any thread.
inline bool logs(log_module module, log_level level) noexcept {
  const auto* made
    = detail::made_loggers[static_cast<std::size_t>(module)].load(std::memory_order_acquire);
  return (made != nullptr ? *made : logger_of(module))
    .should_log(static_cast<spdlog::level::level_enum>(static_cast<int>(level) - 1));
}

} // namespace basal::actors
