#include <basal/solver_service/show_solver.hpp>
#include <basal/solver_service/solver_service.hpp>

#include <basal/actors/detail/scheduler.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/posse/runtime.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace basal::actors {

namespace {

using solver::batch_solver;
using solver::errc;

/// Executor to service: request `ticket` is done.
struct solve_done {
  std::uint64_t ticket = 0;
  std::shared_ptr<solver::solve_outcome<double>> outcome;
};

struct batch_done {
  std::uint64_t ticket = 0;
  std::shared_ptr<std::vector<solver::solve_outcome<double>>> outcomes;
};

/// Publisher of events to service: something waits for the subscriber of feed `number`.
struct feed_ready {
  std::uint64_t number = 0;
};

} // namespace

} // namespace basal::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(basal::actors::solve_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(basal::actors::batch_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(basal::actors::feed_ready)

namespace basal::actors {

namespace {

solver::solve_request<double> request_of(solve_message& m) {
  if (m.a.matrix == nullptr)
    throw solver::error{errc::dimension_mismatch, "solve_message: there is no matrix"};
  return {solver::linear_operator<double>{m.a.matrix}, std::move(m.b.values), m.options, m.limits};
}

solve_reply reply_of(solver::solve_outcome<double>& o) {
  auto& r = o.result;
  return {.id = o.id,
          .state = r.state,
          .exhausted = o.exhausted,
          .x = std::move(r.x),
          .iterations = r.iterations,
          .ticks = o.ticks,
          .residual = r.residual,
          .half_width = r.half_width,
          .chosen = r.chosen,
          .preconditioner = r.preconditioner,
          .why = std::move(r.why),
          .elapsed = o.elapsed};
}

batch_entry entry_of(solver::solve_outcome<double>& o) {
  batch_entry entry;
  if (o.failure)
    entry.failure = make_error(*o.failure);
  else
    entry.reply = reply_of(o);
  return entry;
}

struct service_state;
using service_actor = caf::stateful_actor<service_state>;

/// State of the service. Only its own handlers touch it.
struct service_state {
  /// One subscriber. At most one message is on its way to it.
  struct feed {
    solver_subscriber to;
    std::shared_ptr<solver::subscription> events;
    std::uint64_t lost = 0; ///< found after events that are on their way
    bool unanswered = false;
  };

  static constexpr const char* name = "basal.solver";

  std::unique_ptr<batch_solver> engine;
  solver_source shown;
  std::uint64_t last_ticket = 0;
  std::unordered_map<std::uint64_t, caf::typed_response_promise<solve_reply>> solves;

  /// Some requests of a batch may have failed before it began.
  struct pending_batch {
    caf::typed_response_promise<batch_reply> promise;
    batch_reply reply;
    std::vector<std::size_t> places; ///< of the requests that the engine has
  };
  std::unordered_map<std::uint64_t, pending_batch> batches;
  std::map<std::uint64_t, feed> feeds;

  ~service_state() {
    shown = {}; // before what it shows
    // Ends what runs. Those who wait for an answer would wait for ever.
    engine.reset();
    auto stopped
      = make_error(solver::error{errc::stopped, "the solver service ended before the solve had"});
    for (auto& [ticket, promise] : solves)
      promise.deliver(stopped);
    for (auto& [ticket, pending] : batches)
      pending.promise.deliver(stopped);
  }
};

/// Sends a feed's subscriber what waits for it, unless it has not yet answered.
void pump(service_actor* self, std::uint64_t number) {
  constexpr std::size_t most_events = 256;
  auto found = self->state.feeds.find(number);
  if (found == self->state.feeds.end() || found->second.unanswered)
    return;
  auto& feed = found->second;
  events_message message{.lost = std::exchange(feed.lost, 0), .events = {}};
  while (message.events.size() < most_events) {
    auto next = feed.events->try_next();
    if (!next)
      break;
    if (next->event) {
      message.events.push_back(*next->event);
    } else if (message.events.empty()) {
      message.lost += next->lost;
    } else {
      feed.lost = next->lost; // after these events, so with the next ones
      break;
    }
  }
  if (message.lost == 0 && message.events.empty())
    return;
  feed.unanswered = true;
  self->request(feed.to, caf::infinite, std::move(message))
    .then(
      [=] {
        if (auto f = self->state.feeds.find(number); f != self->state.feeds.end())
          f->second.unanswered = false;
        pump(self, number);
      },
      [=](caf::error&) { self->state.feeds.erase(number); });
}

caf::result<void> subscribe(service_actor* self, const solver_subscriber& who,
                            std::uint64_t capacity) {
  if (!who)
    return make_error(
      solver::error{errc::bad_option, "subscribe: there is no subscriber, its handle is empty"});
  if (capacity == 0 || capacity > max_waiting_events)
    return make_error(solver::error{
      errc::bad_option, "subscribe: the capacity is " + std::to_string(capacity)
                          + " events; it must be 1 to " + std::to_string(max_waiting_events)});
  auto number = ++self->state.last_ticket;
  // Weak: the subscription belongs to the actor.
  auto notify = [weak = caf::actor_cast<caf::actor_addr>(self), number] {
    if (auto service = caf::actor_cast<caf::actor>(weak))
      caf::anon_send(service, feed_ready{number});
  };
  auto events = self->state.engine->events().subscribe(capacity, std::move(notify));
  self->state.feeds.emplace(number, service_state::feed{who, std::move(events), 0, false});
  self->monitor(who);
  return caf::unit;
}

caf::behavior service(service_actor* self, const solver::solver_limits& limits) {
  auto& pool = runtime_of(self->system()).compute();
  self->state.engine = std::make_unique<batch_solver>(pool, limits);
  self->state.shown = show_solver(self->system(), *self->state.engine);
  self->set_down_handler([self](caf::down_msg& down) {
    std::erase_if(self->state.feeds, [&](const auto& entry) {
      return caf::actor_cast<caf::actor_addr>(entry.second.to) == down.source;
    });
  });
  return {
    [self](solve_message& m) -> caf::result<solve_reply> {
      auto ticket = ++self->state.last_ticket;
      try {
        self->state.engine->submit<double>(
          request_of(m), {}, [me = caf::actor{self}, ticket](solver::solve_outcome<double> o) {
            caf::anon_send(me, solve_done{ticket, std::make_shared<solver::solve_outcome<double>>(
                                                    std::move(o))});
          });
      } catch (const solver::error& e) {
        return make_error(e);
      }
      // Only now: a promise that is made must be kept.
      auto promise = self->make_response_promise<solve_reply>();
      self->state.solves.emplace(ticket, promise);
      return promise;
    },
    [self](batch_message& m) -> caf::result<batch_reply> {
      auto ticket = ++self->state.last_ticket;
      service_state::pending_batch pending;
      std::vector<solver::solve_request<double>> requests;
      pending.reply.entries.resize(m.requests.size());
      for (std::size_t i = 0; i < m.requests.size(); ++i) {
        try {
          requests.push_back(request_of(m.requests[i]));
          pending.places.push_back(i);
        } catch (const solver::error& e) {
          pending.reply.entries[i].failure = make_error(e);
        }
      }
      try {
        self->state.engine->submit_batch<double>(
          std::move(requests), {.block_width = m.block_width},
          [me = caf::actor{self}, ticket](std::vector<solver::solve_outcome<double>> o) {
            using outcomes = std::vector<solver::solve_outcome<double>>;
            caf::anon_send(me, batch_done{ticket, std::make_shared<outcomes>(std::move(o))});
          });
      } catch (const solver::error& e) {
        return make_error(e);
      }
      auto promise = self->make_response_promise<batch_reply>();
      pending.promise = promise;
      self->state.batches.emplace(ticket, std::move(pending));
      return promise;
    },
    [self](caf::subscribe_atom, const solver_subscriber& who, std::uint64_t capacity) {
      return subscribe(self, who, capacity);
    },
    [self](caf::get_atom) { return self->state.engine->stats(); },
    [self](const solve_done& done) {
      auto waiting = self->state.solves.extract(done.ticket);
      if (done.outcome->failure)
        waiting.mapped().deliver(make_error(*done.outcome->failure));
      else
        waiting.mapped().deliver(reply_of(*done.outcome));
    },
    [self](const batch_done& done) {
      auto waiting = self->state.batches.extract(done.ticket);
      auto& pending = waiting.mapped();
      for (std::size_t i = 0; i < pending.places.size(); ++i)
        pending.reply.entries[pending.places[i]] = entry_of((*done.outcomes)[i]);
      pending.promise.deliver(std::move(pending.reply));
    },
    [self](const feed_ready& ready) { pump(self, ready.number); },
  };
}

} // namespace

solver_service spawn_solver_service(caf::actor_system& system, solver::solver_limits limits) {
  limits.validate();
  runtime_of(system); // throws here rather than in the actor
  if (!system.config().error_renderers.contains(solver::errc_category))
    throw std::logic_error("spawn_solver_service: the system does not know the solver's messages; "
                           "call basal::actors::add_solver_messages(config) before you make it");
  // Its own messages are no part of its interface, so it is dynamically typed inside.
  return caf::actor_cast<solver_service>(system.spawn(service, limits));
}

} // namespace basal::actors
