#include "liveness.hpp"

namespace basal::observer {

namespace {

// load_average of an executor that has run for some of its windows, which are far shorter than our
// patience.
constexpr std::uint64_t busy_permille = 900;

std::uint64_t steps_of(const executors::executor_stats& x) noexcept {
  return x.tasks_run + x.suspensions + x.quantum_ends + x.times_parked;
}

std::string line(const char* pool, bool alive) {
  const std::string name{pool};
  return alive ? "[+]" + name + " executors ok\n"
               : "[-]" + name + " executors: each has been running one handler or function for "
                   + std::to_string(liveness::patience.count())
                   + " s; a stack dump shows which, and whether it waits for another\n";
}

} // namespace

bool liveness::look(const std::vector<executors::executor_stats>& pool, std::vector<mark>& marks,
                    clock::time_point now) {
  marks.resize(pool.size(), mark{0, now});
  bool alive = pool.empty();
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto steps = steps_of(pool[i]);
    if (steps != marks[i].steps || pool[i].load_permille < busy_permille)
      marks[i] = {steps, now};
    alive = alive || now - marks[i].since < patience;
  }
  return alive;
}

liveness::report liveness::look(const actors::system_stats& stats, clock::time_point now) {
  const bool messages = look(stats.message_executors, messages_, now);
  const bool compute = look(stats.compute_executors, compute_, now);
  return {messages && compute, line("message", messages) + line("compute", compute)};
}

} // namespace basal::observer
