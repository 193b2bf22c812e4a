#include <basal/executors/asio_executor.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

namespace asio_home {
namespace library = ::asio;
using context = basal::executors::asio_context;
} // namespace asio_home

#include "asio_executor_tests.hpp"
