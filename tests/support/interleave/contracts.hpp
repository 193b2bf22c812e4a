#pragma once

// Include before the code under test: its broken contracts then fail the run
// with a schedule, where the usual assertion would end the process.

#include <basal/executors/detail/assert.hpp>

#include "support/interleave/run.hpp"

#undef BASAL_ASSERT
#define BASAL_ASSERT(condition, contract)                                                          \
  ::basal::interleave::check(static_cast<bool>(condition), "contract: " contract ": " #condition)
