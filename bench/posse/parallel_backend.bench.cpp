// C++26's parallel scheduler as it would be on basal, and Asio's handlers on basal's executors.
//
// parallel_vs_asio_post  10^5 receivers scheduled by a thread from outside, over as many functions
//                        posted to an asio::thread_pool, on 2 CPUs
// asio_executor_vs_asio  the same functions posted to basal's executor for Asio, over the same
// bulk_vs_tbb            a bulk over 10^7 floats, over tbb::parallel_for, on all CPUs
//
// Each library by default: as many threads as CPUs, oneTBB's automatic partitioner. No library
// here has C++26's own.

#include "bench/posse/program.hpp"

#include <basal/executors/boost_asio_executor.hpp>
#include <basal/executors/completion.hpp>
#include <basal/posse/parallel_backend.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace {

using namespace basal;

/// Counts down; whoever waits is told when none is left.
class countdown {
public:
  explicit countdown(std::int64_t n) : left_(n) {
  }
  // Release for what was done, acquire for the last one, which passes all of it on.
  void done() noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      none_left_.set();
  }
  /// @returns how many are left: 0, or something is broken
  std::int64_t wait() {
    none_left_.wait();
    return left_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::int64_t> left_;
  executors::completion none_left_;
};

struct counting_receiver {
  countdown& all;

  void set_value() noexcept {
    all.done();
  }
  void set_error(const std::exception_ptr&) noexcept {
    std::terminate();
  }
  void set_stopped() noexcept {
    std::terminate();
  }
};

std::int64_t schedule_all(posse::runtime& on, std::vector<counting_receiver>& receivers,
                          countdown& left) {
  posse::parallel_backend backend{on};
  for (auto& r : receivers)
    backend.schedule(r);
  return left.wait();
}

template <class Executor>
std::int64_t post_all(const Executor& to, std::int64_t n) {
  countdown left{n};
  for (std::int64_t i = 0; i < n; ++i)
    boost::asio::post(to, [&left] { left.done(); });
  return left.wait();
}

const bench::suite post_suite{[](bench::plan& plan) {
  const std::int64_t n = 100'000;
  for (const int cpus : bench::cpu_counts()) {
    const auto name = [=](const char* impl) { return bench::case_name("post", n, impl, cpus); };
    const bench::case_options compared{.baseline = name("asio")};
    plan.add(
      name("asio"),
      [=](benchmark::State& state) {
        bench::cpu_limit limit{cpus};
        boost::asio::thread_pool pool{static_cast<std::size_t>(cpus)};
        bench::check(state, 0, [&] { return post_all(pool.get_executor(), n); });
      },
      compared);
    plan.add(
      name("asio_on_basal"),
      [=](benchmark::State& state) {
        bench::cpu_limit limit{cpus};
        posse::runtime runtime;
        executors::boost_asio_context context{runtime.compute()};
        bench::check(state, 0, [&] { return post_all(context.get_executor(), n); });
      },
      compared);
    plan.add(
      name("schedule"),
      [=](benchmark::State& state) {
        bench::cpu_limit limit{cpus};
        posse::runtime runtime;
        bench::check(state, 0, [&] {
          countdown left{n};
          std::vector<counting_receiver> receivers(static_cast<std::size_t>(n),
                                                   counting_receiver{left});
          return schedule_all(runtime, receivers, left);
        });
      },
      compared);
    if (cpus == 2) {
      plan.figure("parallel_vs_asio_post", bench::ratio(name("schedule"), name("asio")));
      plan.figure("asio_executor_vs_asio", bench::ratio(name("asio_on_basal"), name("asio")));
    }
  }
}};

float of(float x) {
  return std::sqrt(x) * 2 + 1;
}

/// In one piece of memory, so that both lie as far apart for each library: at some distances, such
/// as a page less than 128 MiB, the same loop takes a sixth longer.
struct floats {
  std::vector<float> both;
  std::span<float> in;
  std::span<float> out;

  explicit floats(std::size_t n) : both(2 * n), in(both.data(), n), out(both.data() + n, n) {
    for (std::size_t i = 0; i < n; ++i)
      in[i] = static_cast<float>(i % 1024);
  }

  floats(const floats&) = delete;
  floats& operator=(const floats&) = delete;

  void compute(std::size_t first, std::size_t last) noexcept {
    for (auto i = first; i < last; ++i)
      out[i] = of(in[i]);
  }

  /// How many of a sample of them are wrong; makes them wrong again.
  std::int64_t wrong() {
    std::int64_t result = 0;
    for (std::size_t i = 0; i < out.size(); i += 997) {
      result += out[i] == of(in[i]) ? 0 : 1;
      out[i] = 0;
    }
    return result;
  }
};

struct bulk_receiver {
  floats& data;
  countdown ended{1};

  void execute(std::size_t first, std::size_t last) noexcept {
    data.compute(first, last);
  }
  void set_value() noexcept {
    ended.done();
  }
  void set_error(const std::exception_ptr&) noexcept {
    std::terminate();
  }
  void set_stopped() noexcept {
    std::terminate();
  }
};

const bench::suite bulk_suite{[](bench::plan& plan) {
  const std::size_t n = 10'000'000;
  for (const int cpus : bench::cpu_counts()) {
    const auto name = [=](const char* impl) { return bench::case_name("bulk", n, impl, cpus); };
    const bench::case_options compared{.baseline = name("tbb")};
    plan.add(
      name("tbb"),
      [=](benchmark::State& state) {
        bench::cpu_limit limit{cpus};
        tbb::global_control most{tbb::global_control::max_allowed_parallelism,
                                 static_cast<std::size_t>(cpus)};
        tbb::task_arena arena{cpus};
        auto data = std::make_unique<floats>(n);
        bench::check(state, 0, [&] {
          arena.execute([&] {
            tbb::parallel_for(tbb::blocked_range<std::size_t>{0, n},
                              [&](const auto& part) { data->compute(part.begin(), part.end()); });
          });
          return data->wrong();
        });
      },
      compared);
    plan.add(
      name("basal"),
      [=](benchmark::State& state) {
        bench::cpu_limit limit{cpus};
        posse::runtime runtime;
        posse::parallel_backend backend{runtime};
        auto data = std::make_unique<floats>(n);
        bench::check(state, 0, [&] {
          std::array<std::byte, posse::parallel_backend::bulk_storage_bytes> storage;
          bulk_receiver receiver{*data};
          backend.schedule_bulk_chunked(n, receiver, storage);
          if (receiver.ended.wait() != 0)
            return std::int64_t{-1};
          return data->wrong();
        });
      },
      compared);
    if (cpus == bench::cpu_counts().back())
      plan.figure("bulk_vs_tbb", bench::ratio(name("basal"), name("tbb")));
  }
}};

} // namespace
