#pragma once

#include <caf/actor_system.hpp>
#include <caf/detail/type_list.hpp>
#include <caf/fwd.hpp>

#include <string>

namespace basal::remote {

/// CAF's module for TLS (`caf::openssl::manager`), with its options checked before anything starts:
/// `BASAL_MAIN(caf::io::middleman, basal::remote::tls)`, or
/// `config.load<caf::io::middleman>().load<basal::remote::tls>()`.
///
/// The options are CAF's: `--openssl.certificate=FILE`, `--openssl.key=FILE` and
/// `--openssl.cafile=FILE` (or `--openssl.capath=FOLDER`), with `--openssl.passphrase` where the
/// key has one. Without any of them the module does nothing. Whoever has a certificate that the
/// authority signed may connect and be connected to: names in certificates are not looked at.
/// A name for `load`: there are no objects of it.
class tls : public caf::actor_system::module {
public:
  /// Called by the actor system.
  /// @throws std::invalid_argument with a sentence if the middleman is not loaded before it, if an
  ///         option is missing, if certificate, key or authority's file cannot be read, if the
  ///         authority's folder is none, if the key is another certificate's, and if the
  ///         certificate is out of date. Whether the authority signed it, peers find out.
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);
};

/// Whether a configuration has any of CAF's options for TLS. Any thread.
bool asks_for_tls(const caf::actor_system_config& config) noexcept;

/// A sentence on what is wrong with the certificates of a configuration (see `tls::make`); empty:
/// nothing that is looked at, or it does not ask for TLS. Reads the files. Any thread.
/// @throws std::bad_alloc
std::string certificate_problem(const caf::actor_system_config& config);

} // namespace basal::remote
