#pragma once

#include <caf/actor_system.hpp>

#include "cli.hpp"
#include "library.hpp"
#include "request.hpp"

namespace tiered {

/// Answers the calls of the command line, and those of standard input, in their order.
/// @returns an exit status
int answer_calls(caf::actor_system& system, const library& programs, const options& o);

/// Calls main() of each program but `interactive` from a client each, beside a client that calls
/// its `ask`, and prints what they saw.
/// @returns an exit status
int serve_load(caf::actor_system& system, const library& programs, script& interactive,
               const request& ask, const options& o);

} // namespace tiered
