#include <basal/executors/boost_asio_executor.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

namespace asio_home {
namespace library = ::boost::asio;
using context = basal::executors::boost_asio_context;
} // namespace asio_home

#include "asio_executor_tests.hpp"
