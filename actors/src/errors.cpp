#include <basal/actors/errors.hpp>

#include <caf/make_message.hpp>

#include <utility>

namespace basal::actors {

std::string_view to_string(errc code) noexcept {
  switch (code) {
  case errc::would_deadlock:
    return "would_deadlock";
  case errc::no_network:
    return "no_network";
  case errc::needs_tls:
    return "needs_tls";
  case errc::bad_certificate:
    return "bad_certificate";
  case errc::cannot_listen:
    return "cannot_listen";
  case errc::unreachable:
    return "unreachable";
  case errc::peer_refused:
    return "peer_refused";
  case errc::wrong_interface:
    return "wrong_interface";
  }
  return "unknown";
}

caf::error make_error(errc code, std::string what) {
  return {static_cast<std::uint8_t>(code), errc_category, caf::make_message(std::move(what))};
}

} // namespace basal::actors
