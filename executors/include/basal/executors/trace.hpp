#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace basal::executors {

/// A flight recording in the format of https://ui.perfetto.dev.
struct perfetto_trace {
  std::string bytes;       ///< a message of type perfetto.protos.Trace
  std::string remarks;     ///< sentences, one a line: what is missing, and why
  std::size_t records = 0; ///< that came out
  std::size_t lost = 0;    ///< overwritten before they could be copied
};

/// Converts what recorder::write() or recorder::stream() has written. Each thread is a track of
/// slices that nest: what it ran, where it looked for work, slept. A theft is a flow of arrows from
/// the victim to the delegate and back to the merge, a hop one from the caller to the work and
/// back. Lengths of queues are counters. A recording that was cut off is converted as far as it
/// goes.
/// Any thread; takes memory for some times the recording.
/// @throws std::runtime_error with a sentence, for what is no recording or another version's
perfetto_trace to_perfetto(std::span<const std::byte> recording);

} // namespace basal::executors
