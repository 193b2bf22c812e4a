#pragma once

#include <chrono>
#include <string>

namespace basal::observer {

/// The flight recorder's records of the last `age`, in the format of https://ui.perfetto.dev. Any
/// thread; takes memory for some times the recording, and stops nobody.
/// @throws std::system_error, std::runtime_error with a sentence
std::string trace_of_last(std::chrono::seconds age);

} // namespace basal::observer
