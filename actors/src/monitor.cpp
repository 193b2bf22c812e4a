#include <basal/actors/monitor.hpp>

#include <caf/typed_event_based_actor.hpp>

namespace basal::actors {

stats_monitor::behavior_type monitor(stats_monitor::pointer self) {
  return {[self](caf::get_atom) { return stats_of(self->system()); }};
}

} // namespace basal::actors
