#pragma once

#include <basal/posse/fwd.hpp>

namespace basal::posse {

/// The name of the computation that the calling thread is inside of, "a
/// computation" if its function was not declared, or null if it is in none. For
/// those who cause effects, to refuse them there: what a stolen branch sends or
/// waits for happens at another time than in sequence, on another executor.
/// Any thread; some nanoseconds.
const char* running_pure_function() noexcept;

/// Ends the program with a sentence that names the function if an effect happens
/// inside one, in release builds, too. @param what e.g. "sends a message"
void refuse_effect(const char* what) noexcept;

} // namespace basal::posse
