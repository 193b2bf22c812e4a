#pragma once

// Actors of other processes: CAF's publish and remote_actor, which refuse what is not safe.
//
// A system that publishes or asks loads `caf::io::middleman` and, for other machines,
// `basal::remote::tls`. Handles of remote actors are CAF's: requests, monitors, links and
// `basal::actors::get` work as with any other.

#include <basal/actors/errors.hpp>
#include <basal/remote/tls.hpp>
#include <basal/remote/wire.hpp>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/duration.hpp>
#include <caf/expected.hpp>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace basal::remote {

/// Where an actor is published.
struct endpoint {
  std::string host = "127.0.0.1"; ///< name or IP address; to publish: the address to listen at
  std::uint16_t port = 0;         ///< TCP; to publish: 0 for any that is free
};

/// Says that the messages of an actor without a type carry no floating-point numbers, which CAF
/// 0.17.6's wire format changes (see wire.hpp).
struct unchecked_t {};
inline constexpr unchecked_t unchecked{};

namespace detail {

caf::expected<std::uint16_t> publish(caf::actor_system& system, const caf::strong_actor_ptr& whom,
                                     std::set<std::string> interface, const endpoint& where,
                                     std::chrono::milliseconds patience);

caf::expected<caf::strong_actor_ptr> connect(caf::actor_system& system,
                                             const std::set<std::string>& interface,
                                             const endpoint& where,
                                             std::chrono::milliseconds patience);

template <class Handle>
caf::expected<Handle> remote_actor(caf::actor_system& system, const endpoint& where,
                                   std::chrono::milliseconds patience) {
  const caf::detail::type_list<Handle> type;
  auto found = connect(system, system.message_types(type), where, patience);
  if (!found)
    return std::move(found.error());
  return caf::actor_cast<Handle>(std::move(*found));
}

} // namespace detail

/// Lets other processes send to `whom` until it ends. With certificates (`tls`) the connections are
/// TLS, and peers must have a certificate of the same authority; without, the address must be a
/// loopback address, where every user of this machine may connect. `caf::io::publish` asks neither.
///
/// Any thread that may block: for milliseconds, but up to `patience` while CAF's one actor for this
/// makes a connection. If that takes longer, the actor may still be published later. Does not
/// compile where a message has a floating-point number (wire.hpp).
/// @returns the port; or errc::no_network, errc::needs_tls, errc::bad_certificate,
///          errc::cannot_listen with a sentence
/// @{
template <class Handle>
caf::expected<std::uint16_t> publish(const Handle& whom, const endpoint& where = {},
                                     std::chrono::milliseconds patience
                                     = std::chrono::seconds{10}) {
  check_interface<Handle>();
  auto& system = whom.home_system();
  return detail::publish(system, caf::actor_cast<caf::strong_actor_ptr>(whom),
                         system.message_types(whom), where, patience);
}
inline caf::expected<std::uint16_t>
publish(const caf::actor& whom, const endpoint& where, unchecked_t,
        std::chrono::milliseconds patience = std::chrono::seconds{10}) {
  return detail::publish(whom.home_system(), caf::actor_cast<caf::strong_actor_ptr>(whom), {},
                         where, patience);
}
/// @}

/// The actor that is published at `where`, under the same rules: TLS, or a loopback address. Its
/// handle stays valid until the connection breaks, which ends it for those who monitor it.
///
/// Any thread that may block, until the other side has answered. Does not compile where a message
/// has a floating-point number (wire.hpp).
/// @returns the handle; or errc::no_network, errc::needs_tls, errc::bad_certificate,
///          errc::unreachable, errc::peer_refused, errc::wrong_interface with a sentence
/// @{
template <class Handle>
caf::expected<Handle> remote_actor(caf::actor_system& system, const endpoint& where,
                                   std::chrono::milliseconds patience = std::chrono::seconds{10}) {
  check_interface<Handle>();
  return detail::remote_actor<Handle>(system, where, patience);
}
inline caf::expected<caf::actor>
remote_actor(caf::actor_system& system, const endpoint& where, unchecked_t,
             std::chrono::milliseconds patience = std::chrono::seconds{10}) {
  return detail::remote_actor<caf::actor>(system, where, patience);
}
/// @}

} // namespace basal::remote
