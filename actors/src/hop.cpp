#include <basal/actors/detail/hop.hpp>

#include <basal/executors/executor.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/executors/stopwatch.hpp>
#include <basal/posse/errors.hpp>
#include <basal/posse/runtime.hpp>

#include <caf/actor_system.hpp>
#include <caf/logger.hpp>

namespace basal::actors::detail {

const executors::work_ops hop_job::ops{&hop_job::run, &hop_job::discard};

hop_job::hop_job(posse::runtime& compute, caf::actor_system& system, function call) noexcept
  : compute_(compute),
    system_(system),
    call_(call),
    account_(executors::delegated_time::current_account()) {
}

void hop_job::travel() {
  if (!compute_.compute().submit({this, &ops}))
    throw posse::runtime_stopped{};
  done_.wait();
  if (discarded_)
    throw posse::cancelled{};
}

void hop_job::run(void* object, executors::executor& self) noexcept {
  auto& job = *static_cast<hop_job*>(object);
  if (job.compute_.is_cancelled())
    return discard(object);
  // What CAF keeps for each thread; message executors have it from their start.
  if (caf::logger::current_logger() == nullptr)
    CAF_SET_LOGGER_SYS(&job.system_);
  {
    executors::delegated_time time{self, job.account_};
    job.call_(job);
  }
  job.done_.set(); // `job` may be gone from here on
}

void hop_job::discard(void* object) noexcept {
  auto& job = *static_cast<hop_job*>(object);
  job.discarded_ = true;
  job.done_.set();
}

bool is_on(posse::runtime& compute) noexcept {
  auto* self = executors::executor::current();
  return self != nullptr && &self->pool() == &compute.compute();
}

} // namespace basal::actors::detail
