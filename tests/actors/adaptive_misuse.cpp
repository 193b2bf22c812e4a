// What must not compile: the test looks for the sentence that the compiler says.
#include <basal/actors/adaptive.hpp>

#include <caf/event_based_actor.hpp>

caf::behavior generic(caf::event_based_actor* self) {
  return {basal::actors::adaptive(self, [](auto x) { return x; })};
}
