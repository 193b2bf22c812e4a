#pragma once

#include <caf/fwd.hpp>

namespace basal::actors {

/// Gives back the reference to a resumable that will not run any more. An actor is ended with
/// `caf::exit_reason::user_shutdown` first, so that its links, monitors and requesters hear of it;
/// whom that makes runnable meets the same end. Any thread that may resume the job.
void release_unrun(caf::resumable* job) noexcept;

} // namespace basal::actors
