#pragma once

#include <basal/actors/real.hpp>

#include <caf/fwd.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>

namespace basal::test {

/// The actor that the tests publish: doubles an integer, and gives numbers back as they came.
using service = caf::typed_actor<caf::replies_to<std::int64_t>::with<std::int64_t>,
                                 caf::replies_to<actors::reals>::with<actors::reals>>;

inline service::behavior_type serve() {
  return {[](std::int64_t x) { return 2 * x; }, [](const actors::reals& x) { return x; }};
}

} // namespace basal::test
