// Asio on executors: a server's handlers beside computations, on the same threads.
#include <basal/executors/boost_asio_executor.hpp>
#include <basal/executors/executors.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;
namespace asio = boost::asio;

int main() {
  basal::executors::executor_pool pool{{.executors = 2}};
  int total = 0;
  {
    basal::executors::boost_asio_context context{pool}; // waits at its end for what was posted
    auto strand = asio::make_strand(context.get_executor());
    for (int i = 1; i <= 100; ++i)
      asio::post(strand, [&total, i] { total += i; }); // one at a time, on any executor
  }
  std::cout << "total " << total << '\n';

  // Sockets and timers belong to an io_context, whose thread waits; their handlers run on the pool.
  basal::executors::boost_asio_context context{pool};
  asio::io_context io;
  asio::steady_timer timer{io, 1ms};
  timer.async_wait(asio::bind_executor(context.get_executor(), [&](const auto& error) {
    const bool here = basal::executors::executor::current() != nullptr;
    std::cout << (error ? error.message() : here ? "on an executor" : "elsewhere") << '\n';
  }));
  io.run();
}
