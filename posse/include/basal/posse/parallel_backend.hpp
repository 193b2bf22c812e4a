#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <span>

#include <basal/executors/executor_pool.hpp>
#include <basal/executors/work_item.hpp>
#include <basal/posse/errors.hpp>
#include <basal/posse/range_fork.hpp>
#include <basal/posse/runtime.hpp>

namespace basal::posse {

/// The functions that C++26 asks of the scheduler behind `std::execution::get_parallel_scheduler()`
/// ([exec.parschedrepl.psb]), by the same names and with the same meaning, for the compute
/// executors of a runtime. The receivers are parameters, since no library has the standard's
/// classes yet: a class that derives from `parallel_scheduler_backend` forwards its three functions
/// to these.
///
/// - A receiver has `set_value()`, `set_error(std::exception_ptr)` and `set_stopped()`; each call
///   here ends with exactly one of them, on a compute executor, or in the caller when the runtime
///   has stopped, which is set_stopped().
/// - A bulk receiver has `execute(std::size_t first, std::size_t last)` as well, which is called
///   for parts of [0, shape) that do not overlap and together are all of it; calls for different
///   parts run at the same time. It must not throw.
///
/// Chunks are those of a range_fork: executed in order by one executor, and divided only when an
/// executor is idle. The cost of an element is learned for each type of receiver (range_site).
///
/// Any thread. The receiver and the storage live until the receiver was completed. The runtime
/// outlives all of that.
class parallel_backend {
public:
  /// For the compute executors of `on`, which must outlive it.
  explicit parallel_backend(runtime& on) noexcept : runtime_(on) {
  }

  /// Completes `receiver` on a compute executor. Allocates nothing, needs no storage.
  template <class Receiver>
  void schedule(Receiver& receiver, std::span<std::byte> = {}) noexcept {
    submit({&receiver, &schedule_ops<Receiver>});
  }

  /// Executes [0, shape) in parts that the runtime chooses, then completes. Allocates only if
  /// `storage` has no room for bulk_storage_bytes.
  template <class Receiver>
  void schedule_bulk_chunked(std::size_t shape, Receiver& receiver,
                             std::span<std::byte> storage) noexcept {
    submit_bulk<Receiver, false>(shape, receiver, storage);
  }

  /// The same with parts of one element each.
  template <class Receiver>
  void schedule_bulk_unchunked(std::size_t shape, Receiver& receiver,
                               std::span<std::byte> storage) noexcept {
    submit_bulk<Receiver, true>(shape, receiver, storage);
  }

private:
  /// A bulk that waits for an executor, in the caller's storage or on the heap.
  template <class Receiver>
  struct bulk {
    runtime& on;
    Receiver& receiver;
    std::size_t shape;
    bool on_heap;
  };

public:
  /// The size of a storage that always suffices, whatever its alignment.
  static constexpr std::size_t bulk_storage_bytes = sizeof(bulk<int>) + alignof(bulk<int>);

private:
  /// Copies it and gives its memory back: a receiver that is complete may take the storage away.
  template <class Receiver>
  static bulk<Receiver> taken_out(bulk<Receiver>* held) noexcept {
    const auto result = *held;
    if (result.on_heap)
      delete held;
    else
      std::destroy_at(held);
    return result;
  }

  template <class Receiver, bool One>
  static void execute(const bulk<Receiver>& work) noexcept {
    try {
      work.on.run([&work](member& m) {
        auto body = [&receiver = work.receiver](member&, std::size_t first, std::size_t last) {
          if constexpr (One)
            for (auto i = first; i != last; ++i)
              receiver.execute(i, i + 1);
          else
            receiver.execute(first, last);
        };
        range_fork<decltype(body)>{body}.run(m, 0, work.shape);
      });
    } catch (const cancelled&) {
      work.receiver.set_stopped();
      return;
    } catch (...) {
      work.receiver.set_error(std::current_exception());
      return;
    }
    work.receiver.set_value();
  }

  template <class Receiver>
  static constexpr executors::work_ops schedule_ops{
    [](void* object, executors::executor&) noexcept {
      static_cast<Receiver*>(object)->set_value();
    },
    [](void* object) noexcept { static_cast<Receiver*>(object)->set_stopped(); },
    "a scheduled receiver",
  };

  template <class Receiver, bool One>
  static constexpr executors::work_ops bulk_ops{
    [](void* object, executors::executor&) noexcept {
      const auto work = taken_out(static_cast<bulk<Receiver>*>(object));
      execute<Receiver, One>(work);
    },
    [](void* object) noexcept {
      taken_out(static_cast<bulk<Receiver>*>(object)).receiver.set_stopped();
    },
    "a bulk of a parallel scheduler",
  };

  void submit(executors::work_item item) noexcept {
    bool taken = false;
    try {
      taken = runtime_.compute().submit(item);
    } catch (...) { // in a child of fork(), which has no executors; or no memory for a queue
    }
    if (!taken)
      item.ops->discard(item.object);
  }

  template <class Receiver, bool One>
  void submit_bulk(std::size_t shape, Receiver& receiver, std::span<std::byte> storage) noexcept {
    using held = bulk<Receiver>;
    void* place = storage.data();
    auto room = storage.size();
    const bool fits = std::align(alignof(held), sizeof(held), place, room) != nullptr;
    held* work = fits ? ::new (place) held{runtime_, receiver, shape, false}
                      : new (std::nothrow) held{runtime_, receiver, shape, true};
    if (work == nullptr) {
      receiver.set_error(std::make_exception_ptr(std::bad_alloc{}));
      return;
    }
    submit({work, &bulk_ops<Receiver, One>});
  }

  runtime& runtime_;
};

} // namespace basal::posse
