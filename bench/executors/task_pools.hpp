/// Ours and the peers' pools for plain tasks behind one interface: each starts its workers in the
/// constructor, and a task that was submitted stays alive until it has run.
#pragma once

#include <basal/executors/executors.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <future>
#include <stdexcept>
#include <vector>

namespace basal::bench {

/// Something to run. Whoever submits it owns it.
class task {
public:
  virtual void run() = 0;

protected:
  ~task() = default;
};

class basal_pool {
public:
  static constexpr const char* name = "basal";

  explicit basal_pool(int workers) : pool_(config(workers)) {
  }

  /// From a thread outside.
  void submit(task& t) {
    if (!pool_.submit({&t, &ops}))
      throw std::logic_error("the pool has stopped");
  }

  /// From a task of this pool.
  void spawn(task& t) {
    submit(t);
  }

private:
  static executors::pool_config config(int workers) {
    executors::pool_config c;
    c.executors = static_cast<std::size_t>(workers);
    return c;
  }

  static constexpr executors::work_ops ops{
    [](void* object, executors::executor&) noexcept { static_cast<task*>(object)->run(); },
    [](void*) noexcept {},
  };

  executors::executor_pool pool_;
};

class asio_pool {
public:
  static constexpr const char* name = "asio";

  explicit asio_pool(int workers) : pool_(static_cast<std::size_t>(workers)) {
  }

  void submit(task& t) {
    boost::asio::post(pool_, [&t] { t.run(); });
  }

  void spawn(task& t) {
    submit(t);
  }

private:
  boost::asio::thread_pool pool_; // stops and joins when destroyed
};

/// Its task_group is for threads that take part in the work; a thread that does not hands tasks to
/// the arena. A thread more than `workers` is allowed, since TBB counts the caller's, too.
class tbb_pool {
public:
  static constexpr const char* name = "tbb";

  explicit tbb_pool(int workers)
    : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers) + 1),
      arena_(workers, 0) {
  }

  ~tbb_pool() {
    arena_.execute([this] { group_.wait(); });
  }

  void submit(task& t) {
    arena_.enqueue([&t] { t.run(); });
  }

  void spawn(task& t) {
    group_.run([&t] { t.run(); });
  }

private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
  tbb::task_group group_;
};

/// No pool: a thread for each task.
class std_async {
public:
  static constexpr const char* name = "std_async";

  explicit std_async(int) {
  }

  void submit(task& t) {
    threads_.push_back(std::async(std::launch::async, [&t] { t.run(); }));
  }

private:
  std::vector<std::future<void>> threads_; // joined when destroyed
};

} // namespace basal::bench
