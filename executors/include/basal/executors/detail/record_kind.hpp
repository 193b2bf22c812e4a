#pragma once

#include <cstddef>
#include <cstdint>

namespace basal::executors {

/// Kinds of records in a flight recording. Forks are not among them: a fork records nothing.
enum class record_kind : std::uint8_t {
  begins,          ///< an item from a queue; subject: its object (32 bits of the address over 16),
                   ///< times 65,536, plus the number of the name of what it is asked to do
  quantum_end,     ///< the running work has noticed it
  overrun,         ///< subject: for how long it ran, in ticks
  suspends,        ///< the running work waits; subject: its fiber
  resumes,         ///< and goes on
  searches,        ///< looks for work in other executors' rings
  steals,          ///< has taken items out of one; subject: how many
  parks,           ///< has found nothing, and looks for a wake-up
  sleeps,          ///< in the kernel
  wakes,           ///< was woken
  queue_length,    ///< subject: items in the ring, and 2^24 times those in shared queues
  theft,           ///< a right continuation goes to another member; subject: its delegation
  delegate_begins, ///< the same delegation
  delegate_ends,   ///< the same
  merges,          ///< the victim has waited for it and goes on; the same
  hop_sent,        ///< work is handed to a pool, and its caller waits; subject: the work
  hop_begins,      ///< the same work
  hop_ends,        ///< the same
  hop_returns,     ///< its caller goes on; the same
  collection_begins, ///< of the garbage collected heap
  collection_ends,   ///< the same
};

inline constexpr auto record_kinds = static_cast<std::size_t>(record_kind::collection_ends) + 1;

} // namespace basal::executors
