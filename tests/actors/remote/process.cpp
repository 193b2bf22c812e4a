// The processes of processes_test.py:
//   remote_process serve HOST [CAF's options]
//       publishes a service, prints its port, serves until its standard input ends
//   remote_process ask HOST PORT [CAF's options]
//       prints "answer N", and "down" once the service has ended
// Both print "error CODE" and "said SENTENCE" instead, or "refused SENTENCE" with exit status 3.
#include "service.hpp"

#include <basal/actors/actors.hpp>
#include <basal/remote/remote_actor.hpp>

#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace basal;
using namespace std::chrono_literals;

namespace {

int fail(caf::actor_system& system, const caf::error& problem) {
  const auto code = problem.category() == actors::errc_category
                      ? std::string{to_string(static_cast<actors::errc>(problem.code()))}
                      : "other";
  std::cout << "error " << code << "\nsaid " << system.render(problem) << '\n';
  return EXIT_FAILURE;
}

int serve(caf::actor_system& system, const std::string& host) {
  const auto actor = system.spawn(test::serve);
  const auto port = remote::publish(actor, {.host = host});
  if (port) {
    std::cout << *port << '\n';
    for (std::string line; std::getline(std::cin, line);) {
    }
  }
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  return port ? EXIT_SUCCESS : fail(system, port.error());
}

int ask(caf::actor_system& system, const std::string& host, std::uint16_t port) {
  const auto found = remote::remote_actor<test::service>(system, {host, port}, 5s);
  if (!found)
    return fail(system, found.error());
  caf::scoped_actor self{system};
  self->monitor(*found);
  self->request(*found, 20s, std::int64_t{21})
    .receive([](std::int64_t x) { std::cout << "answer " << x << '\n'; },
             [&](const caf::error& problem) { fail(system, problem); });
  self->receive([](const caf::down_msg&) { std::cout << "down" << '\n'; },
                caf::after(20s) >> [] { std::cout << "nothing" << '\n'; });
  return EXIT_SUCCESS;
}

} // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  const int own = what == "serve" ? 3 : 4;
  if ((what != "serve" && what != "ask") || count < own) {
    std::cerr << "usage: remote_process serve HOST | ask HOST PORT, and CAF's options\n";
    return 2;
  }
  std::cout << std::unitbuf;
  actor_system_config config;
  config.set("basal.message-executors", 2);
  config.set("basal.compute-executors", 1);
  config.add_message_type<actors::reals>("basal::actors::reals");
  if (const auto problem = config.parse({arguments + own, arguments + count})) {
    std::cerr << caf::actor_system_config::render(problem) << '\n';
    return 2;
  }
  config.load<caf::io::middleman>().load<remote::tls>();
  try {
    caf::actor_system system{config};
    return own == 3
             ? serve(system, arguments[2])
             : ask(system, arguments[2], static_cast<std::uint16_t>(std::stoi(arguments[3])));
  } catch (const std::invalid_argument& refused) {
    std::cout << "refused " << refused.what() << '\n';
    return 3;
  }
}
