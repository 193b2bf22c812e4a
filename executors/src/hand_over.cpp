#include <basal/executors/hand_over.hpp>

#include <basal/executors/detail/assert.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/executors/recorder.hpp>

#include "alarm.hpp"

namespace basal::executors {

const work_ops awaited_work::ops{
  [](void* object, executor& self) noexcept { static_cast<awaited_work*>(object)->run(self); },
  [](void* object) noexcept {
    static_cast<awaited_work*>(object)->end_unrun(errand_end::discarded);
  },
};

const work_ops awaited_work::hosted_ops{
  [](void* object, executor& self) noexcept {
    auto& work = *static_cast<awaited_work*>(object);
    work.call(self);
    work.done_.set();
  },
  nullptr,
};

errand_end awaited_work::run_on(executor_pool& pool) {
  BASAL_ASSERT(!done_.is_set(), "awaited work is handed over once");
  BASAL_ASSERT(executor::current() == nullptr || &executor::current()->pool() != &pool,
               "an executor does not wait for work of its own pool, which may have no other");
  recorder::add(record_kind::hop_sent, this);
  if (!pool.submit({this, &ops}))
    return errand_end::refused;
  done_.wait();
  recorder::add(record_kind::hop_returns, this);
  return end_;
}

bool awaited_work::host_on(executor_pool& pool) {
  BASAL_ASSERT(!done_.is_set(), "awaited work is handed over once");
  inbox_node node;
  node.item = {this, &hosted_ops};
  return pool.host(node, done_);
}

void awaited_work::call(executor& self) noexcept {
  const carrying all{self, carried_};
  body_(*this, self);
}

void awaited_work::run(executor& self) noexcept {
  self.record(record_kind::hop_begins, self.now(), this);
  call(self);
  self.record(record_kind::hop_ends, self.now(), this);
  done_.set(); // `this` may be gone from here on
}

void awaited_work::end_unrun(errand_end how) noexcept {
  BASAL_ASSERT(how != errand_end::ran, "work that did not run says why");
  end_ = how;
  done_.set(); // likewise
}

// -- within limits ------------------------------------------------------------

/// An item in a queue that stands for work that may be called off.
class awaited_work::ticket {
public:
  explicit ticket(awaited_work& work) noexcept : work_(work) {
  }

  ticket(const ticket&) = delete;
  ticket& operator=(const ticket&) = delete;

  /// Ends the work unrun, unless it has begun or ended. Any thread, while the
  /// caller waits.
  void call_off(errand_end how) noexcept {
    if (claim_.take())
      work_.end_unrun(how);
  }

  void release() noexcept {
    // Acquire for the last one, which frees what the other has used.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

  static const work_ops ops;

private:
  ~ticket() = default;

  awaited_work& work_; ///< there for whoever has the claim, until `done_` is set
  basic_claim<> claim_;
  std::atomic<std::uint32_t> references_{2}; ///< the queue's and the caller's
};

const work_ops awaited_work::ticket::ops{
  [](void* object, executor& self) noexcept {
    auto& t = *static_cast<ticket*>(object);
    if (t.claim_.take())
      t.work_.run(self);
    t.release();
  },
  [](void* object) noexcept {
    auto& t = *static_cast<ticket*>(object);
    t.call_off(errand_end::discarded);
    t.release();
  },
};

errand_end awaited_work::run_on(executor_pool& pool, const begin_limits& limits) {
  using clock = std::chrono::steady_clock;
  BASAL_ASSERT(!done_.is_set(), "awaited work is handed over once");
  BASAL_ASSERT(executor::current() == nullptr || &executor::current()->pool() != &pool,
               "an executor does not wait for work of its own pool, which may have no other");
  if (limits.deadline == clock::time_point::max() && !limits.stop.stop_possible())
    return run_on(pool);
  if (limits.stop.stop_requested())
    return errand_end::stopped;
  if (limits.deadline <= clock::now())
    return errand_end::expired;
  auto* queued = new ticket{*this};
  const std::unique_ptr<ticket, void (*)(ticket*)> mine{queued, [](ticket* t) { t->release(); }};
  struct expiry : alarm::setting {
    explicit expiry(ticket& t)
      : setting{
        [](void* whose) noexcept { static_cast<ticket*>(whose)->call_off(errand_end::expired); },
        &t} {
    }
    ~expiry() {
      if (set)
        alarm::instance().remove(*this);
    }
    bool set = false;
  };
  bool submitted = false;
  try {
    expiry expires{*queued};
    if (limits.deadline != clock::time_point::max()) {
      alarm::instance().add(expires, limits.deadline);
      expires.set = true;
    }
    const std::stop_callback stops{limits.stop, [=] { queued->call_off(errand_end::stopped); }};
    recorder::add(record_kind::hop_sent, this);
    submitted = pool.submit({queued, &ticket::ops});
    if (submitted)
      done_.wait();
    recorder::add(record_kind::hop_returns, this);
  } catch (...) {
    queued->release(); // the queue's
    throw;
  }
  // From here on neither the alarm nor a stop comes near the ticket.
  if (submitted)
    return end_;
  queued->release();
  return errand_end::refused;
}

// -- detached -----------------------------------------------------------------

bool detached_work::run(executor* self) noexcept {
  BASAL_ASSERT(!finished_.is_set(), "detached work runs before its end is announced");
  const auto call_here = [this] {
    const bool returned = call();
    destroy_function();
    return returned;
  };
  bool returned = false;
  if (self == nullptr) {
    returned = call_here();
  } else {
    const carrying all{*self, carried_};
    returned = call_here();
  }
  carried_.drop();
  return returned;
}

void detached_work::forget() noexcept {
  BASAL_ASSERT(!finished_.is_set(), "detached work is forgotten before its end is announced");
  destroy_function();
  carried_.drop();
}

} // namespace basal::executors
