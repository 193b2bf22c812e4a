// Code that must not compile: the test looks for the sentence that the compiler says.
#include <basal/actors/adaptive.hpp>
#include <basal/actors/offload.hpp>

#include <caf/event_based_actor.hpp>

#if MISUSE == 1
caf::behavior generic(caf::event_based_actor* self) {
  return {basal::actors::adaptive(self, [](auto x) { return x; })};
}
#elif MISUSE == 3
caf::behavior offload_without_self(caf::event_based_actor*) {
  return {[](int x) { return basal::actors::offload([x] { return x; }); }};
}
#else
caf::behavior without_self(caf::event_based_actor*) {
  return {basal::actors::adaptive([](int x) { return x; })};
}
#endif
