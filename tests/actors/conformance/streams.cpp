// Streams: pipelines from a source over stages to a sink that end by themselves, or with their
// source. Continuous stages are left out: with CAF 0.17.6 they do not always end when shut down.
#include "scenarios.hpp"

#include <caf/actor_system.hpp>
#include <caf/attach_stream_sink.hpp>
#include <caf/attach_stream_source.hpp>
#include <caf/attach_stream_stage.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace conformance {

namespace {

using caf::actor;
using caf::behavior;
using caf::downstream;
using caf::event_based_actor;
using caf::stream;
using caf::unit_t;
using section = transcript::section;

using open_atom = caf::atom_constant<caf::atom("open")>;

constexpr int endless = std::numeric_limits<int>::max();

// Says how a part of a stream ended, and that it did.
auto at_end(event_based_actor* self, section* log, const actor& report, const char* who) {
  return [=](const caf::error& err) {
    log->line(who + (" ends with " + self->system().render(err)));
    self->send(report, caf::ok_atom::value);
  };
}

void await_ends(caf::scoped_actor& self, int count) {
  for (; count > 0; --count)
    self->receive([](caf::ok_atom) {});
}

// The numbers from 1 to `last`, as fast as the credit allows. At least one: with CAF 0.17.6 a
// stream of nothing never ends.
behavior source(event_based_actor* self, section* log, const actor& report, int last) {
  return {[=](open_atom) {
    return caf::attach_stream_source(
      self, [](int& next) { next = 1; },
      [=](int& next, downstream<int>& out, std::size_t credit) {
        const auto left = static_cast<std::size_t>(last - next) + 1;
        for (auto n = std::min(credit, left); n > 0; --n)
          out.push(next++);
      },
      [=](const int& next) { return next > last; },
      [=](int&, const caf::error& err) { at_end(self, log, report, "source")(err); });
  }};
}

behavior odd_ones(event_based_actor* self) {
  return {[=](stream<int> in) {
    return caf::attach_stream_stage(
      self, in, [](unit_t&) {},
      [](unit_t&, downstream<int>& out, int x) {
        if (x % 2 != 0)
          out.push(x);
      });
  }};
}

behavior squares(event_based_actor* self, section* log, const actor& report) {
  return {[=](stream<int> in) {
    return caf::attach_stream_stage(
      self, in, [](unit_t&) {},
      [](unit_t&, downstream<long>& out, int x) { out.push(static_cast<long>(x) * x); },
      [=](unit_t&, const caf::error& err) { at_end(self, log, report, "stage")(err); });
  }};
}

struct received {
  long total = 0;
  long newest = 0;
  int count = 0;
  bool in_order = true;
};

// Tells `report` when 100 have come, too.
behavior sum(event_based_actor* self, section* log, const actor& report, bool whole) {
  return {[=](stream<long> in) {
    return caf::attach_stream_sink(
      self, in, [](received&) {},
      [=](received& r, long x) {
        r.in_order = r.in_order && x > r.newest;
        r.newest = x;
        r.total += x;
        if (++r.count == 100)
          self->send(report, r.count);
      },
      [=](received& r, const caf::error& err) {
        log->line(r.in_order ? "in order" : "mixed up");
        // How much arrives of a stream that is ended from outside is a matter of time.
        if (whole)
          log->line("sum " + std::to_string(r.total));
        at_end(self, log, report, "sink")(err);
      });
  }};
}

void whole_streams(caf::actor_system& system, transcript& out) {
  for (const int last : {1, 50, 500, 10000}) {
    auto& log = out.begin("streams: " + std::to_string(last) + " elements").unordered();
    caf::scoped_actor self{system};
    const actor here{self};
    auto numbers = self->spawn(source, &log, here, last);
    auto first = self->spawn(odd_ones);
    auto second = self->spawn(squares, &log, here);
    auto sink = self->spawn(sum, &log, here, true);
    self->send(sink * second * first * numbers, open_atom::value);
    await_ends(self, 3);
  }
}

// An endless stream whose source ends while elements flow.
void cut_stream(caf::actor_system& system, section& log, caf::exit_reason why) {
  caf::scoped_actor self{system};
  const actor here{self};
  auto numbers = self->spawn(source, &log, here, endless);
  auto stage = self->spawn(squares, &log, here);
  auto sink = self->spawn(sum, &log, here, false);
  self->send(sink * stage * numbers, open_atom::value);
  self->receive([](int) {});
  self->send_exit(numbers, why);
  await_ends(self, 3);
}

} // namespace

void streams(caf::actor_system& system, transcript& out) {
  whole_streams(system, out);
  cut_stream(system, out.begin("streams: a source quits").unordered(),
             caf::exit_reason::user_shutdown);
  cut_stream(system, out.begin("streams: a source is killed").unordered(), caf::exit_reason::kill);
  system.await_all_actors_done();
}

} // namespace conformance
