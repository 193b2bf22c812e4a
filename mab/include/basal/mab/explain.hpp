#pragma once

#include <string>

#include <basal/mab/fwd.hpp>

namespace basal::mab {

/// The newest decision of a chooser, and the numbers behind it, in words.
///
/// To be called where the chooser may be used: by its actor. Allocates.
std::string explain(const chooser& x);

} // namespace basal::mab
