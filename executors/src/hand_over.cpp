#include <basal/executors/hand_over.hpp>

#include <basal/executors/executor_pool.hpp>

namespace basal::executors {

const work_ops awaited_work::ops{&awaited_work::run, &awaited_work::discard};

errand_end awaited_work::run_on(executor_pool& pool) {
  enter_collected_heap(); // the result arrives in this thread's frame
  if (!pool.submit({this, &ops}))
    return errand_end::refused;
  done_.wait();
  return discarded_ ? errand_end::discarded : errand_end::ran;
}

void awaited_work::run(void* object, executor& self) noexcept {
  auto& work = *static_cast<awaited_work*>(object);
  {
    const carrying all{self, work.carried_};
    work.body_(work, self);
  }
  work.done_.set(); // `work` may be gone from here on
}

void awaited_work::discard(void* object) noexcept {
  auto& work = *static_cast<awaited_work*>(object);
  work.discarded_ = true;
  work.done_.set();
}

bool detached_work::run(executor* self) noexcept {
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
  destroy_function();
  carried_.drop();
}

} // namespace basal::executors
