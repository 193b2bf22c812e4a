// Two systems in one process; processes_test.py has two processes, and TLS.
#include "service.hpp"
#include "support/catch.hpp"

#include <basal/actors/actors.hpp>
#include <basal/remote/remote_actor.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace basal;
using namespace std::chrono_literals;
using actors::errc;

namespace {

struct node_config : actor_system_config {
  explicit node_config(bool network = true) {
    set("basal.message-executors", 2);
    set("basal.compute-executors", 1);
    add_message_type<actors::reals>("basal::actors::reals");
    add_message_type<test::service>("basal::test::service");
    if (network)
      load<caf::io::middleman>();
  }
};

struct node {
  explicit node(bool network = true) : config(network), system(config) {
  }
  node_config config;
  caf::actor_system system;
};

void require_error(const caf::error& found, errc code, const std::string& words,
                   caf::actor_system& system) {
  const auto said = system.render(found);
  INFO(said);
  CHECK(found.category() == actors::errc_category);
  CHECK(found.code() == static_cast<std::uint8_t>(code));
  CHECK(said.find(words) != std::string::npos);
}

/// A socket at a free port of 127.0.0.1, which accepts and says nothing, or is closed.
class silent_port {
public:
  silent_port() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&at);
    REQUIRE(bind(fd_, generic, sizeof at) == 0);
    socklen_t size = sizeof at;
    REQUIRE(getsockname(fd_, generic, &size) == 0);
    number = ntohs(at.sin_port);
  }
  ~silent_port() {
    for (const int one : waiting_)
      if (one >= 0)
        close(one);
    close(fd_);
  }
  void listens() const {
    REQUIRE(listen(fd_, 4) == 0);
  }
  /// Nobody accepts: as soon as one connection waits, connect(2) to here blocks, since the kernel
  /// drops what others send, until this port is closed.
  void swallows() {
    REQUIRE(listen(fd_, 0) == 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(number);
    for (auto& one : waiting_) {
      one = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      const auto connected = connect(one, reinterpret_cast<sockaddr*>(&at), sizeof at);
      REQUIRE((connected == 0 || errno == EINPROGRESS));
    }
  }
  std::uint16_t number = 0;

private:
  int fd_;
  std::array<int, 4> waiting_{-1, -1, -1, -1};
};

} // namespace

TEST_CASE("a published actor answers requests of another system") {
  node server;
  node client;
  const auto actor = server.system.spawn(test::serve);
  const auto port = remote::publish(actor);
  REQUIRE(port);
  const auto found = remote::remote_actor<test::service>(client.system, {.port = *port});
  REQUIRE(found);
  caf::scoped_actor self{client.system};
  std::int64_t answer = 0;
  self->request(*found, 20s, std::int64_t{21})
    .receive([&](std::int64_t x) { answer = x; },
             [&](caf::error& e) { FAIL(self->system().render(e)); });
  CHECK(answer == 42);
  self->send_exit(actor, caf::exit_reason::user_shutdown);
}

TEST_CASE("a handler on an executor gets the answer of a remote actor, and learns of its end") {
  node server;
  node client;
  const auto actor = server.system.spawn(test::serve);
  const auto port = remote::publish(actor);
  REQUIRE(port);
  const auto found = remote::remote_actor<test::service>(client.system, {.port = *port});
  REQUIRE(found);
  caf::scoped_actor self{client.system};
  const auto asker = client.system.spawn(
    [&, listener = caf::actor{self}](caf::event_based_actor* me) -> caf::behavior {
      me->set_down_handler(
        [=](const caf::down_msg& down) { me->send(listener, std::string{"down"}, down.reason); });
      me->monitor(*found);
      return {[=, remote = *found](std::int64_t x) -> caf::result<std::int64_t> {
        auto twice = actors::get<std::int64_t>(me, remote, 20s, x);
        if (!twice)
          return twice.error();
        return *twice + 1;
      }};
    });
  std::int64_t answer = 0;
  self->request(asker, 20s, std::int64_t{21})
    .receive([&](std::int64_t x) { answer = x; },
             [&](caf::error& e) { FAIL(self->system().render(e)); });
  CHECK(answer == 43);
  caf::anon_send_exit(actor, caf::exit_reason::kill);
  caf::error reason;
  self->receive([&](const std::string&, caf::error& why) { reason = why; },
                caf::after(20s) >> [] { FAIL("nobody told of the end"); });
  CHECK(reason == caf::exit_reason::kill);
  self->send_exit(asker, caf::exit_reason::user_shutdown);
}

TEST_CASE("reals travel with the same bits") {
  node server;
  node client;
  const auto actor = server.system.spawn(test::serve);
  const auto port = remote::publish(actor);
  REQUIRE(port);
  const auto found = remote::remote_actor<test::service>(client.system, {.port = *port});
  REQUIRE(found);
  using limits = std::numeric_limits<double>;
  const std::vector<double> sent{
    limits::infinity(), -limits::infinity(), limits::quiet_NaN(), -0.0, 5e-324, 1e-310, 0.1,
    limits::max()};
  std::vector<double> received;
  caf::scoped_actor self{client.system};
  self->request(*found, 20s, actors::reals{sent})
    .receive([&](actors::reals& x) { received = x.values; },
             [&](caf::error& e) { FAIL(self->system().render(e)); });
  REQUIRE(received.size() == sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i)
    CHECK(std::bit_cast<std::uint64_t>(received[i]) == std::bit_cast<std::uint64_t>(sent[i]));
  self->send_exit(actor, caf::exit_reason::user_shutdown);
}

TEST_CASE("the monitor of a remote system answers, and streams to a subscriber") {
  node server;
  node client;
  const auto monitor = server.system.spawn(actors::monitor);
  const auto port = remote::publish(monitor);
  REQUIRE(port);
  const auto found = remote::remote_actor<actors::stats_monitor>(client.system, {.port = *port});
  REQUIRE(found);
  caf::scoped_actor self{client.system};
  actors::system_stats answer;
  self->request(*found, 20s, caf::get_atom::value)
    .receive([&](actors::system_stats& x) { answer = x; },
             [&](caf::error& e) { FAIL(self->system().render(e)); });
  CHECK(answer.message_executors.size() == 2);
  CHECK(answer.compute_executors.size() == 1);
  const actors::stats_subscriber subscriber = client.system.spawn(
    [listener = caf::actor{self}]() -> actors::stats_subscriber::behavior_type {
      return {[=](const actors::system_stats& x) {
        caf::anon_send(listener, std::uint64_t{x.message_executors.size()});
      }};
    });
  self->request(*found, 20s, caf::subscribe_atom::value, subscriber, caf::timespan{5ms})
    .receive([] {}, [&](caf::error& e) { FAIL(self->system().render(e)); });
  for (int i = 0; i < 3; ++i)
    self->receive([](std::uint64_t executors) { CHECK(executors == 2); },
                  caf::after(20s) >> [] { FAIL("no statistics"); });
  self->send_exit(subscriber, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(monitor, caf::exit_reason::user_shutdown);
}

TEST_CASE("a system without a network says which module it lacks") {
  node lonely{false};
  const auto actor = lonely.system.spawn(test::serve);
  require_error(remote::publish(actor).error(), errc::no_network, "caf::io::middleman",
                lonely.system);
  require_error(remote::remote_actor<test::service>(lonely.system, {.port = 1}).error(),
                errc::no_network, "caf::io::middleman", lonely.system);
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

TEST_CASE("without TLS only loopback addresses will do") {
  node any;
  const auto actor = any.system.spawn(test::serve);
  for (const auto* host :
       {"0.0.0.0", "", "::", "192.0.2.1", "example.org", "127.0.0.1.example.org"}) {
    INFO(host);
    require_error(remote::publish(actor, {.host = host}).error(), errc::needs_tls, "openssl.cafile",
                  any.system);
    require_error(remote::remote_actor<test::service>(any.system, {host, 1}).error(),
                  errc::needs_tls, "openssl.cafile", any.system);
  }
  for (const auto* host : {"127.0.0.1", "localhost", "127.1.2.3"}) {
    INFO(host);
    const auto port = remote::publish(actor, {.host = host});
    REQUIRE(port);
    CHECK(remote::remote_actor<test::service>(any.system, {host, *port}));
  }
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

TEST_CASE("options for TLS that nobody heeds are no permission to go without") {
  const std::string some = "some";
  for (auto option :
       {&caf::actor_system_config::openssl_certificate, &caf::actor_system_config::openssl_key,
        &caf::actor_system_config::openssl_passphrase, &caf::actor_system_config::openssl_capath,
        &caf::actor_system_config::openssl_cafile}) {
    node_config config;
    config.*option = some;
    caf::actor_system system{config};
    const auto actor = system.spawn(test::serve);
    require_error(remote::publish(actor).error(), errc::needs_tls, "load basal::remote::tls",
                  system);
    require_error(remote::remote_actor<test::service>(system, {.port = 1}).error(), errc::needs_tls,
                  "load basal::remote::tls", system);
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  }
}

TEST_CASE("publish has patience, too, while a connection is being made") {
  node any;
  const auto actor = any.system.spawn(test::serve);
  {
    silent_port hole;
    hole.swallows();
    require_error(
      remote::remote_actor<test::service>(any.system, {.port = hole.number}, 50ms).error(),
      errc::unreachable, "does not answer", any.system);
    require_error(remote::publish(actor, {}, 50ms).error(), errc::cannot_listen,
                  "waits for a connection", any.system);
  }
  CHECK(remote::publish(actor, {}, 60s)); // the kernel tells whom it has kept waiting
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

TEST_CASE("an actor without a type is published by those who say that they know its messages") {
  node server;
  node client;
  const auto actor = server.system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](const std::string& x) { return x + x; }};
  });
  const auto port = remote::publish(actor, {}, remote::unchecked);
  REQUIRE(port);
  const auto found = remote::remote_actor(client.system, {.port = *port}, remote::unchecked);
  REQUIRE(found);
  caf::scoped_actor self{client.system};
  std::string answer;
  self->request(*found, 20s, std::string{"ab"})
    .receive([&](std::string& x) { answer = x; },
             [&](caf::error& e) { FAIL(self->system().render(e)); });
  CHECK(answer == "abab");
  require_error(remote::remote_actor<test::service>(client.system, {.port = *port}).error(),
                errc::wrong_interface, "other messages", client.system);
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

TEST_CASE("a port that is in use, or where nobody is, has a sentence") {
  node any;
  const auto actor = any.system.spawn(test::serve);
  const silent_port taken;
  taken.listens();
  require_error(remote::publish(actor, {.port = taken.number}).error(), errc::cannot_listen,
                "in use", any.system);
  require_error(remote::publish(actor, {.port = taken.number}).error(), errc::cannot_listen,
                "cannot_open_port", any.system); // CAF's own words
  require_error(
    remote::remote_actor<test::service>(any.system, {.port = taken.number}, 200ms).error(),
    errc::unreachable, "does not answer", any.system);
  const silent_port closed;
  require_error(remote::remote_actor<test::service>(any.system, {.port = closed.number}).error(),
                errc::unreachable, "nobody listens", any.system);
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}
