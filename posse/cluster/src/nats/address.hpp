/// Which addresses are allowed without encryption: loopback ones.
#pragma once

#include <basal/cluster/connection.hpp>

#include <string>
#include <vector>

namespace basal::cluster {

/// The servers that an address names.
struct server_list {
  std::vector<std::string> urls;
  bool needs_tls = false; ///< one of them is not on this machine, or certificates were given
};

/// @throws error bad_option for what is no list of "nats://HOST:PORT" and for a number of replicas
///         that no server takes, refused for a host that is
///         not a loopback address without the three files
server_list parse_address(const connection_options& options);

} // namespace basal::cluster
