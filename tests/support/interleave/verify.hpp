#pragma once

#include <cstdio>

#include "support/catch.hpp"
#include "support/interleave/explore.hpp"

namespace basal::interleave {

/// Requires that `body` holds in all schedules within `bounds` (under a
/// sanitizer: in the first of them) and in random_schedules() random ones;
/// prints how many there were.
inline void verify(std::string_view name, const scenario& body, limits bounds = {}) {
  constexpr bool sanitized = sanitizer_slowdown() > 1;
  if (sanitized)
    bounds.schedules = 50'000 / sanitizer_slowdown();
  for (auto random : {false, true}) {
    auto found = random ? explore_random(name, body, random_schedules(), bounds)
                        : explore_all(name, body, bounds);
    if (found.schedules == 0)
      return; // BASAL_MODEL_REPLAY names another scenario
    INFO(found.text());
    REQUIRE_FALSE(found.failed);
    REQUIRE((random || found.complete || sanitized));
    std::printf("%s, %s",
                found.complete ? "all"
                : random       ? "random"
                               : "first",
                found.text().c_str());
  }
}

/// Requires that a schedule is found in which `body`, which holds a bug, fails
/// with a message that contains `what`, and that this schedule replays.
inline void expect_failure(std::string_view name, const scenario& body, std::string_view what,
                           limits bounds = {}) {
  auto found = explore_all(name, body, bounds);
  if (!found.failed)
    found = explore_random(name, body, random_schedules(), bounds);
  if (found.schedules == 0)
    return; // BASAL_MODEL_REPLAY names another scenario
  INFO(found.text());
  REQUIRE(found.failed);
  CHECK(found.what.find(what) != std::string::npos);
  CHECK(replay(name, body, found.schedule, bounds).what == found.what);
  std::printf("caught, %s: %s (after %llu schedules)\n", found.name.c_str(), found.what.c_str(),
              static_cast<unsigned long long>(found.schedules));
}

} // namespace basal::interleave
