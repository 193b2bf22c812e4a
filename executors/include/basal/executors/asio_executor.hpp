#pragma once

#include <asio/execution.hpp>
#include <asio/execution_context.hpp>

#include <basal/executors/detail/basic_asio_executor.hpp>

namespace basal::executors {

namespace detail {

struct asio_library {
  using execution_context = ::asio::execution_context;
  using context_property = ::asio::execution::context_t;
  using blocking_property = ::asio::execution::blocking_t;
  using relationship_property = ::asio::execution::relationship_t;
};

} // namespace detail

/// The context of an executor pool for Asio, in which strands, timers and coroutines keep their
/// state: an `asio::execution_context`. Its destructor waits until each function that was posted
/// through it has ended, or was discarded by a pool that stopped; the pool must live until then.
///
///     executors::asio_context context{pool};
///     asio::post(context.get_executor(), [] { ... });
///
/// Needs Asio 1.22 (Debian: libasio-dev), which basal does not link. For Boost's:
/// boost_asio_executor.hpp.
using asio_context = detail::basic_asio_context<detail::asio_library>;

/// An executor of Asio's that runs functions on an executor pool. Any thread; a copy is a pointer.
///
/// - `execute(f)` never runs `f` in the caller. It allocates once, and costs what
///   executor_pool::submit does beside that. From an executor of the pool, `f` goes to that
///   executor's own queue.
/// - A function runs on a fiber: it may wait as handlers and tasks do. It must not throw; an
///   exception that leaves it ends the program, as one that leaves a thread does.
/// - A pool that has stopped takes nothing: `f` is destroyed without a word, as by
///   `asio::thread_pool`.
using asio_executor = detail::basic_asio_executor<detail::asio_library>;

} // namespace basal::executors
