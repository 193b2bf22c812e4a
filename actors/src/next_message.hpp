#pragma once

#include <basal/executors/detail/recording.hpp>

#include <caf/fwd.hpp>

#include <cstdint>

namespace basal::actors {

/// The name of the types of the next message in the mailbox of `job`, for a flight recording:
/// "str", "('add', i32, i32)". An atom is named by its text, since it tells messages apart.
/// Only on the executor that is about to resume `job`, which is the mailbox's only reader.
/// @returns the name's number in `into`; 0 where there is no message, or `job` is no actor
std::uint16_t next_message_name(caf::resumable& job, basal::detail::recording& into) noexcept;

} // namespace basal::actors
