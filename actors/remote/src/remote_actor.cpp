#include <basal/remote/remote_actor.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/middleman_actor.hpp>
#include <caf/openssl/manager.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/sec.hpp>

#include <arpa/inet.h>

namespace basal::remote::detail {

namespace {

using actors::errc;
using actors::make_error;

std::string to_string(const endpoint& where) {
  return where.host + ", port " + std::to_string(where.port);
}

bool is_loopback(const std::string& host) {
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1)
    return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  if (inet_pton(AF_INET6, host.c_str(), &six) == 1)
    return IN6_IS_ADDR_LOOPBACK(&six) != 0;
  return false;
}

/// A name that a resolver might send elsewhere.
std::string resolved(const std::string& host) {
  return host == "localhost" ? "127.0.0.1" : host;
}

/// The actor of CAF that opens connections: the one with TLS where there are certificates, else the
/// plain one, for loopback addresses alone.
caf::expected<caf::io::middleman_actor> opener(caf::actor_system& system, const endpoint& where) {
  if (!system.has_middleman())
    return make_error(errc::no_network, "the actor system has no network: load it, as in "
                                        "BASAL_MAIN(caf::io::middleman, basal::remote::tls)");
  if (asks_for_tls(system.config())) {
    if (!system.has_openssl_manager())
      return make_error(errc::needs_tls, "there are --openssl options, but nobody who heeds them: "
                                         "load basal::remote::tls");
    if (auto problem = certificate_problem(system.config()); !problem.empty())
      return make_error(errc::bad_certificate, std::move(problem));
    return system.openssl_manager().actor_handle();
  }
  if (!is_loopback(resolved(where.host)))
    return make_error(errc::needs_tls,
                      "since " + (where.host.empty() ? "every address" : "'" + where.host + "'")
                        + " is not a loopback address, it needs TLS: load basal::remote::tls, and "
                          "give --openssl.certificate, --openssl.key and --openssl.cafile");
  return system.middleman().actor_handle();
}

caf::error why_not_published(caf::actor_system& system, const endpoint& where,
                             const caf::error& problem) {
  const auto failed = "cannot listen at " + to_string(where) + ": ";
  if (problem == caf::sec::request_timeout)
    return make_error(errc::cannot_listen, failed + "it waits for a connection to be made");
  const auto guess = failed + "it is in use, no address of ours, or not allowed";
  return make_error(errc::cannot_listen, guess + " (" + system.render(problem) + ")");
}

caf::error why_not_connected(caf::actor_system& system, const endpoint& where,
                             const caf::error& problem) {
  if (problem == caf::sec::request_timeout)
    return make_error(errc::unreachable, to_string(where) + " does not answer");
  if (problem == caf::sec::cannot_connect_to_node)
    return make_error(errc::unreachable,
                      "nobody listens at " + to_string(where) + ", or it cannot be reached");
  return make_error(errc::peer_refused,
                    to_string(where)
                      + " ended the connection before it began: both sides need certificates of "
                        "the same authority, or both none ("
                      + system.render(problem) + ")");
}

} // namespace

caf::expected<std::uint16_t> publish(caf::actor_system& system, const caf::strong_actor_ptr& whom,
                                     std::set<std::string> interface, const endpoint& where,
                                     std::chrono::milliseconds patience) {
  auto broker = opener(system, where);
  if (!broker)
    return std::move(broker.error());
  caf::expected<std::uint16_t> result{caf::sec::runtime_error};
  caf::scoped_actor self{system};
  self
    ->request(*broker, patience, caf::publish_atom::value, where.port, whom, std::move(interface),
              resolved(where.host), false)
    .receive(
      [&](std::uint16_t port) { result = port; },
      [&](const caf::error& problem) { result = why_not_published(system, where, problem); });
  return result;
}

caf::expected<caf::strong_actor_ptr> connect(caf::actor_system& system,
                                             const std::set<std::string>& interface,
                                             const endpoint& where,
                                             std::chrono::milliseconds patience) {
  auto broker = opener(system, where);
  if (!broker)
    return std::move(broker.error());
  caf::expected<caf::strong_actor_ptr> result{caf::sec::runtime_error};
  caf::scoped_actor self{system};
  self->request(*broker, patience, caf::connect_atom::value, resolved(where.host), where.port)
    .receive(
      [&](const caf::node_id&, caf::strong_actor_ptr& found, const std::set<std::string>& offered) {
        if (!found)
          result = make_error(errc::unreachable, "no actor is published at " + to_string(where));
        else if (!system.assignable(offered, interface))
          result = make_error(errc::wrong_interface,
                              "the actor at " + to_string(where) + " takes other messages");
        else
          result = std::move(found);
      },
      [&](const caf::error& problem) { result = why_not_connected(system, where, problem); });
  return result;
}

} // namespace basal::remote::detail
