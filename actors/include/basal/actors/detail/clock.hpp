#pragma once

#include <caf/actor_clock.hpp>
#include <caf/fwd.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace basal::executors {
class thread_heritage;
}

namespace basal::actors {

namespace detail {
class timer;
class timer_queue;
} // namespace detail

/// The clock of an actor system on basal: timeouts, request timeouts and delayed messages.
///
/// One thread, "basal.clock", begins with the first entry, sleeps until the earliest of them is due
/// and does not wake in between, except once for an earliest entry that was cancelled meanwhile.
/// Deliveries happen at or after their time, in the order of their times, first come first served
/// among equals.
///
/// All member functions may be called from any thread; each holds a mutex for as long as
/// detail::timer_queue says, and none calls an actor meanwhile. Those that schedule the first entry
/// throw std::system_error where the kernel refuses the thread.
///
/// After `stop` everything that is scheduled is dropped at once, as CAF's own clock does.
class clock final : public caf::actor_clock {
public:
  clock();

  /// Stops, if nobody did.
  ~clock() override;

  /// From now on, what is scheduled is delivered by a thread that runs the thread hooks of `system`
  /// and has its CPUs and its signals from the calling one.
  /// @param check_effects whether a pure function that sends a message for later ends the program
  /// @pre not started before
  void start(caf::actor_system& system, bool check_effects);

  /// Joins the thread and drops what is still scheduled. Idempotent. Must not be called by a thread
  /// that delivers, that is, from a handler.
  void stop();

  /// Returns how many timeouts and messages wait.
  [[nodiscard]] std::size_t pending() const;

  /// Returns the actors that have timeouts pending, each once.
  [[nodiscard]] std::vector<caf::strong_actor_ptr> waiting() const;

  /// The same as std::chrono::steady_clock::now(). CAF's actors ask for it after every round of up
  /// to three messages; so, on an executor, this is where a running actor has had its look.
  [[nodiscard]] time_point now() const noexcept override;

  void set_ordinary_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type,
                            std::uint64_t id) override;
  void set_multi_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type,
                         std::uint64_t id) override;
  void set_request_timeout(time_point t, caf::abstract_actor* self, caf::message_id id) override;
  void cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) override;
  void cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) override;
  void cancel_timeouts(caf::abstract_actor* self) override;
  void schedule_message(time_point t, caf::strong_actor_ptr receiver,
                        caf::mailbox_element_ptr content) override;
  void schedule_message(time_point t, caf::group target, caf::strong_actor_ptr sender,
                        caf::message content) override;
  void cancel_all() override;

private:
  void schedule(std::unique_ptr<detail::timer> what);

  void refuse_effect() const;
  void begin_locked();
  void run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;            // due before sleeps_until_, or stopping_ was set
  std::unique_ptr<detail::timer_queue> queue_; // guarded by mutex_
  bool stopping_ = false;                      // guarded by mutex_

  /// When the thread looks at the queue again without being told; min: it is about to. Of an entry
  /// that was cancelled it may be too early, never too late. Guarded by mutex_.
  time_point sleeps_until_ = time_point::min();

  bool check_effects_ = false;          // since start(), before any actor that schedules
  caf::actor_system* system_ = nullptr; // since start(); guarded by mutex_
  std::unique_ptr<const executors::thread_heritage> heritage_; // likewise
  std::thread thread_; // written once, under mutex_, unless stopping_
};

} // namespace basal::actors
