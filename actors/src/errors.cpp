#include <basal/actors/errors.hpp>

#include <caf/make_message.hpp>

#include <utility>

namespace basal::actors {

std::string_view to_string(errc code) noexcept {
  switch (code) {
  case errc::would_deadlock:
    return "would_deadlock";
  }
  return "unknown";
}

caf::error make_error(errc code, std::string what) {
  return {static_cast<std::uint8_t>(code), errc_category, caf::make_message(std::move(what))};
}

} // namespace basal::actors
