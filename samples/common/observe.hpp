#pragma once

// An observer for samples with actors, in builds that have one: SAMPLES_OBSERVE is defined there.

#include <caf/fwd.hpp>

#include <functional>
#include <string>

#ifdef SAMPLES_OBSERVE
#  include <basal/observer/server.hpp>
#endif

namespace samples {

#ifdef SAMPLES_OBSERVE

inline constexpr bool can_observe = true;

/// Listens where the option `basal.observer` says, if it says anything.
using observer = basal::observer::server;
using observer_options = basal::observer::options;

#else

inline constexpr bool can_observe = false;

struct observer_options {
  struct {
    std::string label;
    std::function<std::string(const std::string&)> answer;
  } box;
};

struct observer {
  explicit observer(caf::actor_system&, observer_options = {}) {
  }
};

#endif

/// The address of `--observe` without one.
inline constexpr const char* usual_address = "127.0.0.1:7420";

/// Help of that option.
inline constexpr const char* observe_help
  = "Show what the program does to a browser, at the address that is printed; on a port of this"
    " machine, as --observe=127.0.0.1:0, where 0 is any that is free";

} // namespace samples
