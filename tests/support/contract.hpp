#pragma once

// Uses of an interface that break its contract: builds with asserts end the program with a
// sentence.

#include "support/catch.hpp"
#include "support/in_child.hpp"

#include <csignal>

namespace basal::test {

/// Expects `misuse` to end a child process by an assertion whose text has `sentence`. A build
/// without asserts calls nothing: the effect of a broken contract is undefined there.
void expect_broken_contract([[maybe_unused]] const char* sentence, [[maybe_unused]] auto misuse) {
#ifndef NDEBUG
  const auto [said, signal] = in_child(misuse);
  CHECK(signal == SIGABRT);
  CHECK_THAT(said, ContainsSubstring(sentence));
#endif
}

} // namespace basal::test
