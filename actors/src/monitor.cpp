#include <basal/actors/monitor.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/result.hpp>
#include <caf/sec.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace basal::actors {

namespace {

constexpr caf::timespan shortest = std::chrono::milliseconds{1};

using next_atom = caf::atom_constant<caf::atom("next")>;

/// One subscription. It ends with its subscriber, or with the monitor.
caf::behavior feeder(caf::event_based_actor* self, const stats_subscriber& to,
                     caf::timespan interval) {
  self->send(self, next_atom::value);
  return {[=](next_atom) {
    self->request(to, caf::infinite, stats_of(self->system()))
      .then([=] { self->delayed_send(self, interval, next_atom::value); },
            [=](caf::error&) { self->quit(); });
  }};
}

/// The feeders of a monitor by their subscribers.
class subscriptions {
public:
  void add(stats_monitor::pointer self, const stats_subscriber& to, caf::timespan interval) {
    end(self, to);
    auto started = self->spawn<caf::linked + caf::monitored>(feeder, to, interval);
    feeders_.emplace(to, std::move(started));
  }

  void end(stats_monitor::pointer self, const stats_subscriber& to) {
    const auto at = feeders_.find(to);
    if (at == feeders_.end())
      return;
    self->unlink_from(at->second);
    self->send_exit(at->second, caf::exit_reason::user_shutdown);
    feeders_.erase(at);
  }

  void forget(const caf::actor_addr& feeder) {
    for (auto i = feeders_.begin(); i != feeders_.end(); ++i)
      if (i->second.address() == feeder) {
        feeders_.erase(i);
        return;
      }
  }

private:
  std::map<stats_subscriber, caf::actor> feeders_;
};

} // namespace

stats_monitor::behavior_type monitor(stats_monitor::pointer self) {
  auto all = std::make_shared<subscriptions>();
  self->set_down_handler([all](const caf::down_msg& ended) { all->forget(ended.source); });
  return {
    [self](caf::get_atom) { return stats_of(self->system()); },
    [self, all](caf::subscribe_atom, const stats_subscriber& to,
                caf::timespan interval) -> caf::result<void> {
      if (interval < shortest)
        return caf::make_error(caf::sec::invalid_argument,
                               std::string{"the shortest interval of statistics is 1 ms"});
      all->add(self, to, interval);
      return {};
    },
    [self, all](caf::unsubscribe_atom, const stats_subscriber& to) { all->end(self, to); },
  };
}

} // namespace basal::actors
