// Publishes an actor, from an installed basal.
#include <basal/actors/actors.hpp>
#include <basal/remote/remote_actor.hpp>

#include <caf/io/middleman.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdlib>

int main() {
  basal::actor_system_config config;
  config.load<caf::io::middleman>().load<basal::remote::tls>();
  caf::actor_system system{config};
  const auto monitor = system.spawn(basal::actors::monitor);
  const auto port = basal::remote::publish(monitor);
  caf::anon_send_exit(monitor, caf::exit_reason::user_shutdown);
  return port ? EXIT_SUCCESS : EXIT_FAILURE;
}
