/// Catch2, whichever version the system has: v2 (one header) or v3 (a library).
///
/// Tests write `#include "support/catch.hpp"` and need no main.
///
/// CHECK and REQUIRE are for the thread that runs the test case; other threads
/// record what they saw and the test case checks it after joining them.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#  include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#  include <catch2/catch.hpp>

/// v3's name of v2's matcher for a part of a text.
inline auto ContainsSubstring(const std::string& part) {
  return Catch::Matchers::Contains(part);
}
#endif
