#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include <basal/executors/executor_pool.hpp>

namespace basal::executors::detail {

template <class Library>
class basic_asio_executor;

/// See asio_context. `Library` names what Asio is: the one in Boost, or the one by itself.
///
/// Protocol of the end. `open_` counts the functions that have not ended and the context itself.
/// The destructor takes the context's own count away, so the count gets to 0 once, after the
/// destructor has begun; whoever takes the last one says so under the lock.
template <class Library>
class basic_asio_context : public Library::execution_context {
public:
  using executor_type = basic_asio_executor<Library>;

  explicit basic_asio_context(executor_pool& pool) noexcept : pool_(pool) {
  }

  ~basic_asio_context() {
    if (open_.fetch_sub(1, std::memory_order_acq_rel) != 1) {
      std::unique_lock lock{mutex_};
      all_ended_.wait(lock, [this] { return none_left_; });
    }
    this->shutdown();
    this->destroy();
  }

  basic_asio_context(const basic_asio_context&) = delete;
  basic_asio_context& operator=(const basic_asio_context&) = delete;

  executor_type get_executor() noexcept {
    return executor_type{*this};
  }

  executor_pool& pool() const noexcept {
    return pool_;
  }

private:
  friend class basic_asio_executor<Library>;

  template <class Function>
  struct job {
    basic_asio_context& context;
    Function function;
  };

  /// A function's count, which it gives back when it has ended.
  class ending {
  public:
    explicit ending(basic_asio_context& of) noexcept : of_(of) {
    }
    ~ending() {
      of_.end_one();
    }
    ending(const ending&) = delete;
    ending& operator=(const ending&) = delete;

  private:
    basic_asio_context& of_;
  };

  // Release: what the function did is done when the destructor goes on. Acquire: for who is last.
  void end_one() noexcept {
    if (open_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      std::lock_guard lock{mutex_};
      none_left_ = true;
      all_ended_.notify_all();
    }
  }

  template <class Function>
  static constexpr work_ops ops{
    [](void* object, executor&) noexcept {
      std::unique_ptr<job<Function>> held{static_cast<job<Function>*>(object)};
      const ending when_done{held->context};
      Function function = std::move(held->function);
      held.reset(); // Asio's rule: memory is given back before the handler runs
      std::move(function)();
    },
    [](void* object) noexcept {
      std::unique_ptr<job<Function>> held{static_cast<job<Function>*>(object)};
      const ending when_done{held->context};
      held.reset();
    },
    "an Asio handler",
  };

  template <class Function>
  void post(Function&& function) {
    using stored = std::decay_t<Function>;
    auto held
      = std::unique_ptr<job<stored>>(new job<stored>{*this, std::forward<Function>(function)});
    // Relaxed: the caller keeps the context alive; submit() publishes the function.
    open_.fetch_add(1, std::memory_order_relaxed);
    if (pool_.submit({held.get(), &ops<stored>})) // from here on the context may be gone
      static_cast<void>(held.release());
    else
      end_one();
  }

  executor_pool& pool_;
  std::atomic<std::size_t> open_{1};
  std::mutex mutex_;
  std::condition_variable all_ended_;
  bool none_left_ = false; ///< guarded by mutex_
};

/// See asio_executor.
template <class Library>
class basic_asio_executor {
public:
  using context_type = basic_asio_context<Library>;

  explicit basic_asio_executor(context_type& context) noexcept : context_(&context) {
  }

  template <class Function>
  void execute(Function&& function) const {
    context_->post(std::forward<Function>(function));
  }

  typename Library::execution_context& query(typename Library::context_property) const noexcept {
    return *context_;
  }

  static constexpr typename Library::blocking_property
  query(typename Library::blocking_property) noexcept {
    return typename Library::blocking_property::never_t{};
  }

  static constexpr typename Library::relationship_property
  query(typename Library::relationship_property) noexcept {
    return typename Library::relationship_property::fork_t{};
  }

  basic_asio_executor require(typename Library::blocking_property::never_t) const noexcept {
    return *this;
  }

  friend bool operator==(const basic_asio_executor&, const basic_asio_executor&) = default;

private:
  context_type* context_;
};

} // namespace basal::executors::detail
