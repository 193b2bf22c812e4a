// An actor of another process. `howto_remote` asks itself; `howto_remote --listen=4243` serves
// until Enter, and `howto_remote --ask=4243` asks that one. --host and CAF's --openssl options are
// for other machines.
#include <basal/actors/actors.hpp>
#include <basal/remote/remote_actor.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/io/middleman.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

// Messages between processes have types: the compiler refuses those that do not survive.
using greeter = caf::typed_actor<caf::replies_to<std::string>::with<std::string>>;

greeter::behavior_type greet() {
  return {[](const std::string& name) { return "hello, " + name; }};
}

struct config : basal::actor_system_config {
  std::string host = "127.0.0.1";
  std::uint16_t listen = 0;
  std::uint16_t ask = 0;

  config() {
    opt_group{custom_options_, "global"}
      .add(host, "host,H", "address to listen at or to ask")
      .add(listen, "listen,L", "port to serve at")
      .add(ask, "ask,A", "port to ask at");
  }
};

int status = EXIT_SUCCESS; // what main returns

void ask(caf::actor_system& system, const basal::remote::endpoint& where) {
  const auto complain = [&](const caf::error& e) {
    std::cerr << system.render(e) << '\n';
    status = EXIT_FAILURE;
  };
  const auto there = basal::remote::remote_actor<greeter>(system, where);
  if (!there)
    return complain(there.error());
  caf::scoped_actor self{system};
  self->request(*there, std::chrono::seconds{10}, std::string{"world"})
    .receive([](const std::string& answer) { std::cout << answer << '\n'; }, complain);
}

void caf_main(caf::actor_system& system, const config& cfg) {
  if (cfg.ask != 0)
    return ask(system, {cfg.host, cfg.ask});
  const auto mine = system.spawn(greet);
  const auto port = basal::remote::publish(mine, {cfg.host, cfg.listen});
  if (!port) {
    std::cerr << system.render(port.error()) << '\n';
    status = EXIT_FAILURE;
  } else if (cfg.listen == 0) {
    ask(system, {cfg.host, *port});
  } else {
    std::cin.get();
  }
  caf::anon_send_exit(mine, caf::exit_reason::user_shutdown); // published actors end before systems
}

int main(int count, char** arguments) { // BASAL_MAIN(...), with an exit status
  const int wrong
    = basal::exec_main<caf::io::middleman, basal::remote::tls>(caf_main, count, arguments);
  return wrong != EXIT_SUCCESS ? wrong : status;
}
