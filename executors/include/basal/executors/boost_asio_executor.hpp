#pragma once

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include <basal/executors/detail/basic_asio_executor.hpp>

namespace basal::executors {

namespace detail {

struct boost_asio_library {
  using execution_context = ::boost::asio::execution_context;
  using context_property = ::boost::asio::execution::context_t;
  using blocking_property = ::boost::asio::execution::blocking_t;
  using relationship_property = ::boost::asio::execution::relationship_t;
};

} // namespace detail

/// asio_context (asio_executor.hpp) for the Asio in Boost, 1.74 or newer.
using boost_asio_context = detail::basic_asio_context<detail::boost_asio_library>;

/// asio_executor for the Asio in Boost.
using boost_asio_executor = detail::basic_asio_executor<detail::boost_asio_library>;

} // namespace basal::executors
