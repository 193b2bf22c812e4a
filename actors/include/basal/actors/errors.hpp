#pragma once

#include <caf/atom.hpp>
#include <caf/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace basal::actors {

/// Errors between actors on basal, beside CAF's own.
enum class errc : std::uint8_t {
  would_deadlock = 1, ///< actors would wait for each other in get(); the text names them
};

/// The category of `errc` in a caf::error.
inline constexpr caf::atom_value errc_category = caf::atom("basal");

/// "would_deadlock" etc. Any thread.
std::string_view to_string(errc code) noexcept;

/// The error with a sentence. Any thread. @throws std::bad_alloc
caf::error make_error(errc code, std::string what);

} // namespace basal::actors
