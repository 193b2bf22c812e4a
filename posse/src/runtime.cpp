#include <basal/posse/runtime.hpp>

#include <stdexcept>
#include <string>

#include <basal/executors/tick_clock.hpp>

namespace basal::posse {

namespace {

runtime_config validated(runtime_config config) {
  config.validate();
  return config;
}

} // namespace

runtime::runtime(runtime_config config)
  : config_(validated(config)), quantum_ticks_(executors::tick_clock::to_ticks(config.quantum)) {
  executors::pool_config pool;
  pool.name = "basal.cpu";
  pool.executors = config.compute_executors;
  pool.stack_bytes = config.stack_bytes;
  pool.quantum = config.quantum;
  pool.pin = config.pin;
  pool.simulate = config.simulate;
  pool.hooks.context = this;
  pool.hooks.goes_idle = [](void* self, executors::executor& idle) noexcept {
    static_cast<runtime*>(self)->ask(idle);
  };
  compute_ = std::make_unique<executors::executor_pool>(std::move(pool));
  attach(*compute_);
}

runtime::~runtime() {
  cancel();
  stop(executors::stop_mode::discard);
}

void runtime::attach(executors::executor_pool& clients) {
  auto count = pool_count_.load(std::memory_order_relaxed);
  if (count > max_client_pools)
    throw std::length_error("basal: a runtime serves at most " + std::to_string(max_client_pools)
                            + " pools beside its own");
  pools_[count] = &clients;
  pool_count_.store(count + 1, std::memory_order_release);
}

void runtime::cancel() noexcept {
  cancelled_.store(true, std::memory_order_relaxed);
  auto pools = pool_count_.load(std::memory_order_acquire);
  for (std::size_t p = 0; p < pools; ++p)
    for (std::size_t i = 0; i < pools_[p]->size(); ++i)
      pools_[p]->at(i).raise_attention();
}

void runtime::stop(executors::stop_mode mode) {
  compute_->stop(mode);
  // Only executors that ask look at the pools; they may go from now on.
  pool_count_.store(0, std::memory_order_release);
}

void runtime::submit(executors::work_item item) {
  if (!compute_->submit(item))
    throw runtime_stopped{};
}

/// The idle ask: an executor about to sleep makes one busy executor look up at
/// its next fork. It takes the first that runs a member and has not been asked
/// yet, starting behind its own index so that askers spread out; the others
/// see it in the idle set when their quantum ends.
void runtime::ask(const executors::executor& idle) noexcept {
  auto pools = pool_count_.load(std::memory_order_acquire);
  for (std::size_t p = 0; p < pools; ++p) {
    auto& pool = *pools_[p];
    for (std::size_t i = 1; i <= pool.size(); ++i) {
      auto& busy = pool.at((idle.index() + i) % pool.size());
      if (&busy != &idle && busy.attentive().load(std::memory_order_relaxed)
          && busy.attention().load(std::memory_order_relaxed) == 0) {
        busy.raise_attention();
        count(counters_.asks);
        return;
      }
    }
  }
}

void runtime::delegate(detail::delegation& d, executors::executor& to) noexcept {
  static constexpr executors::work_ops ops{
    [](void* object, executors::executor& self) noexcept {
      run_delegate(*static_cast<detail::delegation*>(object), self);
    },
    nullptr, // addressed to an executor, so never discarded: a victim waits
  };
  d.node.item = {&d, &ops};
  compute_->deliver_claimed(to, d.node);
}

void runtime::run_delegate(detail::delegation& d, executors::executor& self) noexcept {
  auto& host = d.origin.host;
  {
    executors::delegated_time time{self, d.origin.account};
    member_scope scope{self, d.origin};
    member m{d.origin, self};
    try {
      d.execute(m);
    } catch (...) {
      d.error = std::current_exception();
      count(host.counters_.failed_merges);
    }
  }
  count(host.counters_.merges);
  d.merged.set(); // `d` may be gone from here on
}

posse_stats runtime::stats() const {
  auto get = [](const std::atomic<std::uint64_t>& c) { return c.load(std::memory_order_relaxed); };
  const auto& c = counters_;
  posse_stats s;
  // Ends before beginnings, so that a difference is never negative.
  auto ended = get(c.computations_ended);
  s.computations = get(c.computations);
  s.computations_now = s.computations - ended;
  s.merges = get(c.merges);
  s.thefts = get(c.thefts);
  s.delegates_now = s.thefts - s.merges;
  s.quanta = get(c.quanta);
  s.yields = get(c.yields);
  s.failed_merges = get(c.failed_merges);
  s.merge_waits = get(c.merge_waits);
  s.asks = get(c.asks);
  s.rejects_nobody_idle = get(c.nobody_idle);
  s.rejects_actors_first = get(c.actors_first);
  s.rejects_once_a_quantum = get(c.once_a_quantum);
  s.rejects_too_young = get(c.too_young);
  s.functions = detail::function_record::snapshot();
  return s;
}

} // namespace basal::posse
