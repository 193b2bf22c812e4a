// The program behind the browser test: actors that compute, fork, overrun, choose and solve, with
// an observer on a free port, whose address is printed. "restart" on standard input ends the
// observer and makes another one with the same port and token; the end of standard input ends the
// program.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/observer/server.hpp>
#include <basal/priority/background_pool.hpp>
#include <basal/solver_service/solver_service.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using tick_atom = caf::atom_constant<caf::atom("tick")>;

void compute(std::chrono::microseconds time) {
  for (const auto end = clock_type::now() + time; clock_type::now() < end;) {
  }
}

long fib(basal::posse::member& m, int n) {
  if (n < 2)
    return n;
  auto [a, b] = m.fork_merge([=](auto& left) { return fib(left, n - 1); },
                             [=](auto& right) { return fib(right, n - 2); });
  return a + b;
}
inline constexpr basal::posse::pure<fib> pure_fib{"fib"};

long leaf(basal::posse::member&, int n) {
  return n;
}
inline constexpr basal::posse::pure<leaf> pure_leaf{"<img src=x onerror=alert(1)>"};

caf::behavior forker(caf::event_based_actor* self) {
  self->send(self, tick_atom::value);
  return {[self](tick_atom) {
    self->delayed_send(self, std::chrono::milliseconds{40}, tick_atom::value);
    pure_fib(self, 26);
    pure_leaf(self, 1);
    using basal::priority::level;
    auto& background
      = basal::priority::background_pool::of(basal::actors::runtime_of(self->system()).compute());
    for (const auto at : {level::normal, level::batch})
      background.post({at, {}}, [] { compute(std::chrono::microseconds{200}); });
  }};
}

struct glutton_state {
  static inline const char* name = "<b>glutton</b>";
};

caf::behavior glutton(caf::stateful_actor<glutton_state>* self) {
  self->send(self, tick_atom::value);
  return {[self](tick_atom) {
    self->delayed_send(self, std::chrono::milliseconds{90}, tick_atom::value);
    compute(std::chrono::milliseconds{60});
  }};
}

caf::behavior learner(caf::event_based_actor* self) {
  self->send(self, 1);
  return {basal::actors::adaptive(self,
                                  [self](int n) {
                                    self->delayed_send(self, std::chrono::milliseconds{7}, n + 1);
                                    compute(std::chrono::microseconds{300});
                                  },
                                  {.name = "learner/int"})};
}

/// [4 1; 1 3].
basal::actors::shared_matrix small_matrix() {
  using basal::solver::index_type;
  return std::make_shared<const basal::solver::csr_matrix<double>>(
    2, 2, std::vector<index_type>{0, 2, 4}, std::vector<index_type>{0, 1, 0, 1},
    std::vector<double>{4, 1, 1, 3});
}

/// Asks the solver for two solutions every 20 ms, one of a right-hand side that is too long.
caf::behavior solver_client(caf::event_based_actor* self,
                            const basal::actors::solver_service& solver) {
  self->send(self, tick_atom::value);
  return {[=, matrix = small_matrix()](tick_atom) {
    self->delayed_send(self, std::chrono::milliseconds{20}, tick_atom::value);
    for (const std::size_t rows : {2, 3})
      self
        ->request(solver, caf::infinite,
                  basal::actors::solve_message{.a = matrix, .b = std::vector<double>(rows, 1.0)})
        .then([](const basal::actors::solve_reply&) {}, [](caf::error&) {});
  }};
}

} // namespace

int main() {
  spdlog::set_level(spdlog::level::warn);
  basal::actor_system_config config;
  config.set("basal.log-level", "warn");
  basal::actors::add_solver_messages(config);
  caf::actor_system system{config};
  const auto solver = basal::actors::spawn_solver_service(system);
  // Once it answers, it is in the statistics.
  caf::scoped_actor {
    system
    } -> request(solver, caf::infinite, caf::get_atom::value)
      .receive([](const basal::solver::solver_stats&) {}, [](caf::error&) {});
  const std::string token = "0123456789abcdef0123456789abcdef";
  std::optional<basal::observer::server> observer;
  basal::observer::question_box box;
  box.label = "Say <i>something</i>";
  box.answer = [](const std::string& question) { return "You said <u>" + question + "</u>\n"; };
  observer.emplace(system,
                   basal::observer::options{.listen = "127.0.0.1:0", .token = token, .box = box});
  const auto url = observer->url();
  std::cout << url << '\n' << std::flush; // the test waits for it
  const auto place = url.substr(7, url.find("/?") - 7);
  const caf::actor all[]
    = {system.spawn(forker), system.spawn(glutton), system.spawn(learner),
       system.spawn(solver_client, solver), caf::actor_cast<caf::actor>(solver)};
  for (std::string line; std::getline(std::cin, line);) {
    if (line != "restart")
      continue;
    observer.reset();
    observer.emplace(system, basal::observer::options{.listen = place, .token = token, .box = box});
    std::cout << observer->url() << observer->problem() << '\n' << std::flush;
  }
  for (const auto& one : all)
    caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
}
