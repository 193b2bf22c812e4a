#pragma once

#include <string>

namespace basal::detail {

/// The name of a type as source code has it; what cannot be read as a mangled name, as it is.
std::string demangled(const char* mangled);

} // namespace basal::detail
