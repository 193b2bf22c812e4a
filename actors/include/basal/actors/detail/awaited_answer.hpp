#pragma once

#include <basal/executors/completion.hpp>

#include <caf/actor_control_block.hpp>
#include <caf/detail/tuple_vals.hpp>
#include <caf/duration.hpp>
#include <caf/error.hpp>
#include <caf/expected.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>
#include <caf/message_id.hpp>
#include <caf/scheduled_actor.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace basal::actors::detail {

class awaited_answer;
class system_core;

/// The request of a handler that waits for its answer. Its receiver destroys it after having
/// handled it, and with that tells the one who waits, if that one still does.
class awaited_request : public caf::mailbox_element {
public:
  awaited_request(caf::strong_actor_ptr from, caf::message_id id)
    : mailbox_element(std::move(from), id, {}) {
  }

  ~awaited_request() override;

private:
  friend class awaited_answer;

  // Written under the lock of the asker's place in the wait graph, by the asker; null once nobody
  // waits. Release and acquire: who reads null does not touch the asker again.
  std::atomic<awaited_answer*> asker_{nullptr};
  std::uint64_t asker_id_ = 0;
};

/// The same with its values, as CAF's mailbox_element_vals, which is final.
template <class... Ts>
class awaited_request_of final
  : public awaited_request,
    public caf::detail::tuple_vals_impl<caf::type_erased_tuple, Ts...> {
public:
  using values = caf::detail::tuple_vals_impl<caf::type_erased_tuple, Ts...>;

  template <class... Us>
  awaited_request_of(caf::strong_actor_ptr from, caf::message_id id, Us&&... xs)
    : awaited_request(std::move(from), id), values(std::forward<Us>(xs)...) {
  }

  caf::type_erased_tuple& content() override {
    return *this;
  }

  const caf::type_erased_tuple& content() const override {
    return *this;
  }

  caf::message move_content_to_message() override {
    caf::message_factory make;
    return caf::detail::apply_moved_args(make, caf::detail::get_indices(this->data()),
                                         this->data());
  }

  caf::message copy_content_to_message() const override {
    caf::message_factory make;
    return caf::detail::apply_args(make, caf::detail::get_indices(this->data()), this->data());
  }
};

/// A handler that waits for the answer to a request, in its frame.
///
/// Protocol. Answer, time-out and exit come as messages to the actor's own mailbox, which belongs
/// to one reader at a time. That is the handler, until it has found the mailbox empty and marked it
/// as blocked, as an actor does that has nothing to do. The sender of the next message unblocks it,
/// and CAF has that thread enqueue the actor with the scheduler. There take_wake_up() sees
/// that a handler waits and reads the mailbox in its stead: it either blocks the mailbox again,
/// or takes the wait out of the wait graph and sets `done_`, which gives the mailbox back to the
/// handler. So there is one reader at any time, and nothing polls.
///
/// Wait graph. Each waiting actor has one edge, to the actor that it has sent its request to. It
/// lies in `*this`, and is guarded by the lock of the place that the actor's id says; an actor with
/// `waits_flag` has one, and keeps it where CAF keeps the message that is handled. A handler
/// that begins to wait adds its edge first and follows the others' then: of those who close a
/// circle together, the last one sees all of it.
class awaited_answer final : public caf::mailbox_element {
public:
  /// Sends `request` to `other`, to which the caller has a handle, and waits. On the fiber of a
  /// handler of `self`, which is no detached actor and no broker. See get().
  /// @returns what came: the answer, an error in its stead, or the time-out. An error itself where
  ///          nothing came
  static caf::expected<caf::mailbox_element_ptr> await(caf::scheduled_actor& self,
                                                       caf::actor_control_block& other,
                                                       std::unique_ptr<awaited_request> request,
                                                       const caf::duration& timeout);

  /// Tells whether `job`, which the caller was given to enqueue with a reference, is an actor whose
  /// handler waits. @returns true if it was, and is dealt with, the reference included
  static bool take_wake_up(caf::resumable* job) {
    if (job->subtype() != caf::resumable::scheduled_actor)
      return false;
    auto& actor = *static_cast<caf::scheduled_actor*>(job);
    // Written before the mailbox was blocked, which the caller has unblocked.
    if (!actor.getf(waits_flag))
      return false;
    wake_up(actor);
    return true;
  }

  /// Ends all waits in the system with exit_reason::user_shutdown, those that begin later at once.
  static void end_all(caf::actor_system& system, system_core& core);

  // -- an empty message, since CAF takes it for one -----------------------------

  caf::type_erased_tuple& content() override {
    return nothing_;
  }

  const caf::type_erased_tuple& content() const override {
    return nothing_;
  }

  caf::message move_content_to_message() override {
    return {};
  }

  caf::message copy_content_to_message() const override {
    return {};
  }

private:
  friend class awaited_request;

  struct place;
  struct step;

  /// A bit of the actor's flags that CAF 0.17 does not use.
  static constexpr int waits_flag = 0x4000'0000;

  awaited_answer(caf::scheduled_actor& self, caf::actor_control_block& other,
                 awaited_request& request, system_core& core);
  ~awaited_answer() override;

  static place& place_of(std::uint64_t actor_id) noexcept;
  static bool waits_locked(caf::actor_control_block& actor) noexcept;
  static awaited_answer& of_locked(caf::actor_control_block& actor) noexcept;
  static void wake_up(caf::scheduled_actor& actor);

  bool enter();
  void leave() noexcept;
  std::optional<std::string> find_circle();
  bool follow(std::vector<step>& path, bool named) const;
  void look_at_backlog();
  void note_exit(const caf::mailbox_element& x);
  bool read_mailbox();
  void wait();

  caf::scheduled_actor& self_;
  caf::actor_control_block& other_; ///< kept by the handle of get()'s caller
  system_core& core_;
  const caf::message_id answer_id_;
  caf::empty_type_erased_tuple nothing_;

  // Guarded by the lock of the place of `self_`.
  awaited_request* request_; ///< null when it was handled
  awaited_answer* next_ = nullptr;
  awaited_answer* previous_ = nullptr;

  caf::mailbox_element* handled_ = nullptr; ///< the message of the waiting handler

  // The reader's.
  caf::mailbox_element_ptr answer_; ///< or the time-out
  caf::error exit_;
  bool entered_ = false;

  executors::completion done_;
};

} // namespace basal::actors::detail
