#include <basal/posse/parallel_backend.hpp>

#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace basal;
using namespace basal::posse;

namespace {

enum class signal { value, error, stopped };

/// The classes of [exec.parschedrepl], without queries.
struct receiver_proxy {
  virtual ~receiver_proxy() = default;
  virtual void set_value() noexcept = 0;
  virtual void set_error(std::exception_ptr) noexcept = 0;
  virtual void set_stopped() noexcept = 0;
};

struct bulk_item_receiver_proxy : receiver_proxy {
  virtual void execute(std::size_t first, std::size_t last) noexcept = 0;
};

template <class Proxy>
struct receiver : Proxy {
  std::promise<signal> completed;
  std::atomic<int> signals{0};
  std::exception_ptr error;
  bool on_executor = false;

  void complete(signal s) noexcept {
    on_executor = executors::executor::current() != nullptr;
    ++signals;
    completed.set_value(s);
  }
  void set_value() noexcept override {
    complete(signal::value);
  }
  void set_error(std::exception_ptr e) noexcept override {
    error = std::move(e);
    complete(signal::error);
  }
  void set_stopped() noexcept override {
    complete(signal::stopped);
  }
  signal wait() {
    return completed.get_future().get();
  }
};

struct bulk_receiver final : receiver<bulk_item_receiver_proxy> {
  explicit bulk_receiver(std::size_t shape) : times(shape) {
  }

  void execute(std::size_t first, std::size_t last) noexcept override {
    if (first >= last || last > times.size())
      bad_part = true;
    if (last - first > 1)
      long_part = true;
    for (auto i = first; i < last; ++i)
      times[i].fetch_add(1);
  }

  bool each_once() const {
    for (const auto& t : times)
      if (t != 1)
        return false;
    return true;
  }

  std::vector<std::atomic<int>> times;
  std::atomic<bool> bad_part{false};
  std::atomic<bool> long_part{false};
};

runtime_config three_executors() {
  runtime_config config;
  config.compute_executors = 3;
  return config;
}

using storage = std::array<std::byte, parallel_backend::bulk_storage_bytes>;

} // namespace

TEST_CASE("a scheduled receiver is completed on a compute executor") {
  runtime on{three_executors()};
  parallel_backend backend{on};
  receiver<receiver_proxy> r;
  backend.schedule<receiver_proxy>(r);
  CHECK(r.wait() == signal::value);
  CHECK(r.on_executor);
}

TEST_CASE("a chunked bulk executes each element once, in parts") {
  runtime on{three_executors()};
  parallel_backend backend{on};
  for (std::size_t shape : {0u, 1u, 7u, 100'000u}) {
    bulk_receiver r{shape};
    storage room;
    backend.schedule_bulk_chunked<bulk_item_receiver_proxy>(shape, r, room);
    CHECK(r.wait() == signal::value);
    CHECK(r.each_once());
    CHECK_FALSE(r.bad_part);
  }
}

TEST_CASE("an unchunked bulk executes each element once, by itself") {
  runtime on{three_executors()};
  parallel_backend backend{on};
  bulk_receiver r{10'000};
  storage room;
  backend.schedule_bulk_unchunked<bulk_item_receiver_proxy>(10'000, r, room);
  CHECK(r.wait() == signal::value);
  CHECK(r.each_once());
  CHECK_FALSE(r.long_part);
}

TEST_CASE("storage that has no room is not used") {
  runtime on{three_executors()};
  parallel_backend backend{on};
  storage room;
  for (std::size_t bytes = 0; bytes < room.size(); ++bytes) {
    room.fill(std::byte{0x5a});
    bulk_receiver r{100};
    backend.schedule_bulk_chunked<bulk_item_receiver_proxy>(100, r, std::span{room}.first(bytes));
    CHECK(r.wait() == signal::value);
    CHECK(r.each_once());
    for (auto i = bytes; i < room.size(); ++i)
      REQUIRE(room[i] == std::byte{0x5a});
  }
}

TEST_CASE("what a runtime cancels, or no longer takes, is stopped") {
  runtime on{three_executors()};
  parallel_backend backend{on};
  storage room;
  SECTION("cancelled") {
    on.cancel();
    bulk_receiver r{1'000'000};
    backend.schedule_bulk_chunked<bulk_item_receiver_proxy>(r.times.size(), r, room);
    const auto end = r.wait();
    CHECK((end == signal::stopped || (end == signal::value && r.each_once())));
  }
  SECTION("stopped") {
    on.stop(executors::stop_mode::drain);
    receiver<receiver_proxy> one;
    backend.schedule<receiver_proxy>(one);
    CHECK(one.wait() == signal::stopped);
    bulk_receiver r{10};
    backend.schedule_bulk_chunked<bulk_item_receiver_proxy>(10, r, room);
    CHECK(r.wait() == signal::stopped);
    CHECK(r.signals == 1);
    bulk_receiver without_storage{10};
    backend.schedule_bulk_unchunked<bulk_item_receiver_proxy>(10, without_storage, {});
    CHECK(without_storage.wait() == signal::stopped);
  }
}

TEST_CASE("a handler on a compute executor schedules, too") {
  runtime on{three_executors()};
  parallel_backend backend{on};
  bulk_receiver r{1000};
  storage room;
  on.offload([&] { backend.schedule_bulk_chunked<bulk_item_receiver_proxy>(1000, r, room); });
  CHECK(r.wait() == signal::value);
  CHECK(r.each_once());
}
