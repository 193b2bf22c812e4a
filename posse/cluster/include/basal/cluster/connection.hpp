/// Where the work goes.
#pragma once

#include <string>

namespace basal::cluster {

/// An engine's address.
struct connection_options {
  /// "local": everything happens in this process, without a server.
  std::string address = "local";

  bool is_local() const noexcept {
    return address == "local";
  }
};

} // namespace basal::cluster
