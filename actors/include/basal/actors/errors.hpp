#pragma once

#include <caf/atom.hpp>
#include <caf/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace basal::actors {

/// Errors between actors on basal, beside CAF's own.
enum class errc : std::uint8_t {
  would_deadlock = 1,  ///< actors would wait for each other in get(); the text names them
  no_network = 2,      ///< remote actors: the system was made without caf::io::middleman
  needs_tls = 3,       ///< remote actors: the address is not a loopback address, and TLS is missing
  bad_certificate = 4, ///< remote actors: the certificates cannot be used; the text says why
  cannot_listen = 5,   ///< remote actors: the address is in use, not ours or not allowed, or CAF's
                       ///< actor for connections was busy for too long; the text says which
  unreachable = 6,     ///< remote actors: nobody is there, or does not answer in time
  peer_refused = 7,    ///< remote actors: the other side ended the connection before it began
  wrong_interface = 8, ///< remote actors: the one that is published there takes other messages
};

/// The category of `errc` in a caf::error.
inline constexpr caf::atom_value errc_category = caf::atom("basal");

/// "would_deadlock" etc. Any thread.
std::string_view to_string(errc code) noexcept;

/// The error with a sentence. Any thread. @throws std::bad_alloc
caf::error make_error(errc code, std::string what);

} // namespace basal::actors
