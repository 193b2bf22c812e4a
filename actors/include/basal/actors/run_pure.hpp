#pragma once

#include <basal/posse/pure.hpp>
#include <basal/posse/runtime.hpp>

#include <caf/fwd.hpp>
#include <caf/local_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/typed_actor_pointer.hpp>

#include <concepts>

namespace basal::actors {

/// The runtime on which pure functions of this system's handlers run. Any thread.
/// @throws std::logic_error if the system was not made from a `basal::actor_system_config`.
posse::runtime& runtime_of(caf::actor_system& system);

/// Asks whether a message with `caf::exit_reason::kill` waits in the mailbox of `self`, whose
/// handler is in a computation: then the computation ends with `posse::cancelled` at the end of its
/// quantum, instead of keeping the actor alive until it is done. Exits with other reasons are the
/// handler's to judge and wait for it.
posse::interrupt_probe kill_probe(caf::scheduled_actor* self) noexcept;

} // namespace basal::actors

namespace basal::posse {

// The types of `self` in `pure_function(self, ...)`: a pointer to any local actor, be it
// event-based, stateful, typed, blocking or a broker, and CAF's handles that act like one.
//
// On a message executor the function runs right there, on the handler's fiber; on the thread of a
// detached, blocking or scoped actor it runs as on any plain thread (posse::runtime::run).

/// In a handler: `self` calls.
template <std::derived_from<caf::local_actor> Actor>
struct caller_traits<Actor*> {
  /// @throws std::logic_error if the actor's system does not run on basal
  static runtime& runtime_of(Actor* self) {
    return actors::runtime_of(self->home_system());
  }

  /// Asks the mailbox for a kill.
  static interrupt_probe
  probe_of(Actor* self) requires std::derived_from<Actor, caf::scheduled_actor> {
    return actors::kill_probe(self);
  }
};

/// In a handler of a typed actor: `self` calls.
template <class... Signatures>
struct caller_traits<caf::typed_actor_pointer<Signatures...>> {
  /// @throws std::logic_error if the actor's system does not run on basal
  static runtime& runtime_of(const caf::typed_actor_pointer<Signatures...>& self) {
    return actors::runtime_of(self.internal_ptr()->home_system());
  }

  /// Asks the mailbox for a kill.
  static interrupt_probe probe_of(const caf::typed_actor_pointer<Signatures...>& self) {
    return actors::kill_probe(self.internal_ptr());
  }
};

/// On a thread that is none of basal's: the scoped actor calls, and its thread sleeps.
template <>
struct caller_traits<caf::scoped_actor> {
  /// @throws std::logic_error if the actor's system does not run on basal
  static runtime& runtime_of(const caf::scoped_actor& self) {
    return actors::runtime_of(self.home_system());
  }
};

} // namespace basal::posse
