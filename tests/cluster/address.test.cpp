#include "nats/address.hpp"
#include "support/catch.hpp"

#include <basal/cluster/errors.hpp>

using namespace basal::cluster;

namespace {

errc failure_of(const connection_options& options) {
  try {
    static_cast<void>(parse_address(options));
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

const connection_options with_files{.address = "nats://example.org:4222",
                                    .ca_file = "ca.pem",
                                    .certificate_file = "us.pem",
                                    .key_file = "us.key"};

} // namespace

TEST_CASE("loopback addresses need no certificates, all others need all three files") {
  for (const char* near :
       {"nats://127.0.0.1:4222", "nats://127.9.9.9", "nats://localhost:1", "nats://[::1]:4222",
        "nats://name:word@127.0.0.1:4222", "nats://127.0.0.1:1,nats://localhost:2"}) {
    CHECK(failure_of({.address = near}) == errc{});
    CHECK_FALSE(parse_address({.address = near}).needs_tls);
  }
  for (const char* far :
       {"nats://10.0.0.1:4222", "nats://example.org", "nats://[fe80::1]:4222",
        "nats://127.0.0.1@example.org:4222", "nats://127.0.0.1.example.org",
        "nats://localhost.example.org:1", "nats://127.0.0.1:1,nats://example.org:2"})
    CHECK(failure_of({.address = far}) == errc::refused);
  CHECK(parse_address(with_files).needs_tls);
  auto incomplete = with_files;
  incomplete.key_file.clear();
  CHECK(failure_of(incomplete) == errc::refused);
  incomplete.address = "nats://127.0.0.1";
  CHECK(failure_of(incomplete) == errc::refused);
}

TEST_CASE("what is no address is refused") {
  for (const char* bad :
       {"", "teapot", "tcp://127.0.0.1", "nats://", ",", "nats://127.0.0.1,local"})
    CHECK(failure_of({.address = bad}) == errc::bad_option);
  CHECK(failure_of({.address = "nats://127.0.0.1", .replicas = 6}) == errc::bad_option);
  CHECK(failure_of({.address = "nats://127.0.0.1", .replicas = 5}) == errc{});
  CHECK(parse_address({.address = "nats://127.0.0.1:1,nats://localhost:2"}).urls.size() == 2);
}
