#include "address.hpp"

#include <basal/cluster/errors.hpp>

#include <string_view>

#include <arpa/inet.h>

namespace basal::cluster {

namespace {

constexpr std::string_view scheme = "nats://";
constexpr std::size_t most_replicas = 5; // JetStream takes no more

/// "[::1]:4222", "127.0.0.1:4222", "localhost". Drops the name and password before an '@'.
std::string host_of(std::string_view authority) {
  if (const auto at = authority.rfind('@'); at != authority.npos)
    authority.remove_prefix(at + 1);
  if (authority.starts_with('['))
    return std::string{authority.substr(1, authority.find(']') - 1)};
  return std::string{authority.substr(0, authority.find(':'))};
}

bool is_loopback(const std::string& host) {
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1)
    return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  if (inet_pton(AF_INET6, host.c_str(), &six) == 1)
    return IN6_IS_ADDR_LOOPBACK(&six) != 0;
  return host == "localhost";
}

} // namespace

server_list parse_address(const connection_options& options) {
  if (options.replicas > most_replicas)
    throw error{errc::bad_option, "connection_options::replicas is 0 to 5"};
  server_list result;
  std::string abroad;
  for (std::string_view rest = options.address; !rest.empty();) {
    const auto url = rest.substr(0, rest.find(','));
    rest.remove_prefix(url.size() == rest.size() ? url.size() : url.size() + 1);
    const auto host = url.starts_with(scheme) ? host_of(url.substr(scheme.size())) : std::string{};
    if (host.empty())
      throw error{errc::bad_option, "the address '" + options.address
                                      + "' is neither 'local' nor a list of nats://HOST:PORT"};
    if (!is_loopback(host))
      abroad = host;
    result.urls.emplace_back(url);
  }
  if (result.urls.empty())
    throw error{errc::bad_option, "the address is empty; write 'local' or nats://HOST:PORT"};
  const bool all_files
    = !options.ca_file.empty() && !options.certificate_file.empty() && !options.key_file.empty();
  const bool any_file
    = !options.ca_file.empty() || !options.certificate_file.empty() || !options.key_file.empty();
  if ((!abroad.empty() || any_file) && !all_files)
    throw error{errc::refused, (abroad.empty() ? std::string{"with one certificate file"}
                                               : "since " + abroad + " is not a loopback address")
                                 + ", TLS needs all three: ca_file, certificate_file and key_file"};
  result.needs_tls = all_files;
  return result;
}

} // namespace basal::cluster
