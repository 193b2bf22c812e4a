// Log collectors: 40 actors write lines, 20 at a time, to four collectors, which count them by
// level. Nothing holds the writers back, so it is up to the scheduler how far they run ahead of the
// collectors: their lines are the program's memory.
//
// Size: lines of each writer. The answer is the number of lines that report errors.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace basal::bench {

namespace {

constexpr std::int64_t num_writers = 40;
constexpr std::int64_t num_collectors = 4;
constexpr std::int64_t lines_at_a_time = 20;
constexpr std::array levels{"DEBUG", "INFO", "WARNING", "ERROR"};

using go_on = caf::atom_constant<caf::atom("go_on")>;
using ended = caf::atom_constant<caf::atom("ended")>;

std::size_t level_of(std::int64_t writer, std::int64_t line) {
  return static_cast<std::size_t>(computed(writer * 1'000'000 + line, 1)) % levels.size();
}

caf::behavior collector(caf::event_based_actor* self, std::int64_t writers,
                        const caf::actor& observer) {
  auto counts = std::make_shared<std::map<std::string, std::int64_t>>();
  return {[=](const std::string& line) {
            const auto level = line.find(' ') + 1;
            ++(*counts)[line.substr(level, line.find(' ', level) - level)];
          },
          [=, left = writers](ended) mutable {
            if (--left > 0)
              return;
            self->send(observer, (*counts)["ERROR"]);
            self->quit();
          }};
}

caf::behavior writer(caf::event_based_actor* self, const caf::actor& collector, std::int64_t number,
                     std::int64_t lines) {
  self->send(self, go_on::value);
  return {[=, next = std::int64_t{0}](go_on) mutable {
    const auto end = std::min(lines, next + lines_at_a_time);
    for (; next < end; ++next)
      self->send(collector, std::to_string(next) + ' ' + levels[level_of(number, next)] + " writer "
                              + std::to_string(number) + " has seen something");
    if (next < lines) {
      self->send(self, go_on::value);
      return;
    }
    self->send(collector, ended::value);
    self->quit();
  }};
}

} // namespace

extern constinit const program log_collectors{
  .name = "log_collectors",
  .size = 1'000,
  .quick_size = 100,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      std::vector<caf::actor> collectors;
      for (std::int64_t i = 0; i < num_collectors; ++i)
        collectors.push_back(
          system.spawn(collector, num_writers / num_collectors, watching.handle()));
      for (std::size_t i = 0; i < num_writers; ++i)
        system.spawn(writer, collectors[i % num_collectors], static_cast<std::int64_t>(i), size);
      return watching.sum_of_answers(num_collectors);
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t errors = 0;
      for (std::int64_t i = 0; i < num_writers; ++i)
        for (std::int64_t line = 0; line < size; ++line)
          errors += levels[level_of(i, line)] == std::string{"ERROR"} ? 1 : 0;
      return errors;
    },
};

} // namespace basal::bench
