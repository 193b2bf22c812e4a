// Local groups and actor pools.
#include "scenarios.hpp"

#include <caf/actor_pool.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/group.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <string>

namespace conformance {

namespace {

using caf::actor;
using caf::behavior;
using caf::event_based_actor;
using section = transcript::section;
using namespace std::chrono_literals;

using ready_atom = caf::atom_constant<caf::atom("ready")>;

behavior member(event_based_actor* self, section* log, int id, const caf::group& topic) {
  self->join(topic);
  return {[](ready_atom) { return ready_atom::value; },
          [=](const std::string& text) {
            log->line("member " + std::to_string(id) + " hears " + text);
            if (text == "over") {
              self->leave(topic);
              self->quit();
            }
          }};
}

} // namespace

void channels(caf::actor_system& system, transcript& out) {
  auto& heard = out.begin("channels: group").unordered();
  {
    auto fail = [&](caf::error& err) { heard.line("error " + system.render(err)); };
    auto topic = system.groups().get_local("conformance");
    caf::scoped_actor self{system};
    std::vector<actor> members;
    for (int i = 0; i < 4; ++i) {
      members.push_back(system.spawn(member, &heard, i, topic));
      self->request(members.back(), caf::infinite, ready_atom::value)
        .receive([](ready_atom) {}, fail);
    }
    self->send(topic, std::string{"one"});
    self->delayed_send(topic, 20ms, std::string{"over"});
    for (const auto& each : members)
      self->wait_for(each);
  }
  system.await_all_actors_done();

  auto& pooled = out.begin("channels: pools");
  {
    auto fail = [&](caf::error& err) { pooled.line("error " + system.render(err)); };
    caf::scoped_actor self{system};
    int next = 0;
    auto worker = [&]() -> actor {
      return system.spawn([id = next++]() -> behavior {
        return {[id](int x) { return std::to_string(x) + " by worker " + std::to_string(id); },
                [](const std::string& text) { return text; }};
      });
    };
    auto rounds = caf::actor_pool::make(system.dummy_execution_unit(), 3, worker,
                                        caf::actor_pool::round_robin());
    for (int i = 0; i < 6; ++i)
      self->request(rounds, caf::infinite, i)
        .receive([&](const std::string& text) { pooled.line(text); }, fail);
    self->send_exit(rounds, caf::exit_reason::user_shutdown);
  }
  system.await_all_actors_done();
}

} // namespace conformance
