/// The way to the engine: address and credentials.
#pragma once

#include <cstddef>
#include <string>

namespace basal::cluster {

/// An engine's address and what proves who we are to it.
struct connection_options {
  /// "local": everything happens in this process, without a server. "nats://HOST:PORT", or several
  /// of these with commas between them: NATS JetStream. When a server of the list dies, the
  /// connection goes to another one of the list.
  std::string address = "local";

  /// PEM files, needed for each host that is not a loopback address: the authorities that may have
  /// signed the server's certificate, our certificate, and its key. The connection is TLS 1.3 then.
  /// @{
  std::string ca_file = {};
  std::string certificate_file = {};
  std::string key_file = {};
  /// @}

  /// The number of servers that keep a copy of each message: 1 to 5; 0: 3 where the server is one
  /// of a cluster, else 1. The process that makes the streams decides for all; existing ones stay
  /// as they are. The loss of fewer than half of the copies loses no message.
  std::size_t replicas = 0;

  /// Whether everything happens in this process.
  bool is_local() const noexcept {
    return address == "local";
  }
};

} // namespace basal::cluster
