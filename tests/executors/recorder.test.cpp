#include <basal/executors/detail/record_names.hpp>
#include <basal/executors/detail/recording.hpp>
#include <basal/executors/detail/tick_clock.hpp>
#include <basal/executors/executor_pool.hpp>
#include <basal/executors/hand_over.hpp>
#include <basal/executors/recorder.hpp>
#include <basal/executors/trace.hpp>

#include "support/catch.hpp"
#include "support/in_child.hpp"
#include "support/perfetto.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <system_error>

using namespace basal::executors;
using basal::test::perfetto_reader;

namespace {

/// A file that is gone afterwards.
struct scratch_file {
  std::string path = (std::filesystem::temp_directory_path()
                      / ("basal-recorder-" + std::to_string(getpid()) + ".raw"))
                       .string();

  ~scratch_file() {
    std::filesystem::remove(path);
  }

  std::string bytes() const {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
};

perfetto_trace converted(std::string_view bytes) {
  return to_perfetto(std::as_bytes(std::span{bytes}));
}

pool_config named(const char* name, std::size_t executors = 1) {
  pool_config result;
  result.name = name;
  result.executors = executors;
  return result;
}

/// From a plain thread to one pool, and from there to another.
void hop_twice(executor_pool& first, executor_pool& second) {
  auto inner_body = [](executor&) { return 1; };
  auto outer_body = [&](executor&) {
    awaited_call inner{inner_body};
    REQUIRE(inner.run_on(second) == errand_end::ran);
    return inner.take();
  };
  awaited_call outer{outer_body};
  REQUIRE(outer.run_on(first) == errand_end::ran);
  CHECK(outer.take() == 1);
}

std::string problem_of(std::string_view bytes) {
  try {
    converted(bytes);
  } catch (const std::runtime_error& problem) {
    return problem.what();
  }
  return {};
}

} // namespace

TEST_CASE("a recording shows what executors did, in slices that nest") {
  scratch_file file;
  {
    executor_pool first{named("rec.first")};
    executor_pool second{named("rec.second")};
    for (int i = 0; i < 10; ++i)
      hop_twice(first, second);
    recorder::write(file.path);
  }
  const auto trace = converted(file.bytes());
  CHECK(trace.remarks.empty());
  const perfetto_reader read{trace.bytes};
  CHECK(read.nesting_problem() == "");
  CHECK(read.count("rec.first0 (", 1, "work of a hop") == 10);
  CHECK(read.count("rec.second0 (", 1, "work of a hop") == 10);
  CHECK(read.count("rec.first0 (", 1, "a task") >= 1); // those between two looks are one
  CHECK(read.count("rec.first0 (", 3, "hop") == 10);
}

TEST_CASE("each hop is one flow, from its caller to its work and back") {
  scratch_file file;
  executor_pool first{named("rec.flow1")};
  executor_pool second{named("rec.flow2")};
  for (int i = 0; i < 10; ++i)
    hop_twice(first, second);
  recorder::write(file.path);
  const perfetto_reader read{converted(file.bytes()).bytes};
  int whole = 0;
  for (const auto& [flow, through] : read.flows()) {
    if (std::find(through.begin(), through.end(), "work of a hop") == through.end())
      continue; // this thread's of an earlier test, whose pools are gone
    CHECK(through == std::vector<std::string>{"hop", "work of a hop", "hop returns"});
    ++whole;
  }
  CHECK(whole == 20);
}

TEST_CASE("only what is young enough is written") {
  scratch_file file;
  {
    executor_pool first{named("rec.old1")};
    executor_pool second{named("rec.old2")};
    hop_twice(first, second);
  } // so that no executor goes to sleep while the recording is written
  recorder::write(file.path, std::chrono::nanoseconds{0});
  CHECK(converted(file.bytes()).records == 0);
}

TEST_CASE("a pool made while the recorder is off records nothing") {
  recorder::use(false);
  executor_pool off{named("rec.off")};
  recorder::use(true);
  executor_pool on{named("rec.on")};
  CHECK(off.at(0).flight() == nullptr);
  CHECK(on.at(0).flight() != nullptr);
}

TEST_CASE("memory of a pool that has ended is used again, and shows nothing of it") {
  scratch_file file;
  const basal::detail::recording* before = nullptr;
  {
    executor_pool first{named("rec.past", 1)};
    before = first.at(0).flight();
  }
  executor_pool again{named("rec.again", 1)};
  CHECK(again.at(0).flight() == before);
  recorder::write(file.path);
  const perfetto_reader read{converted(file.bytes()).bytes};
  CHECK(read.count("rec.past", 1, "a task") == 0);
}

TEST_CASE("a stream has all records, in the same format") {
  scratch_file file;
  recorder::stream(file.path);
  CHECK_THROWS_AS(recorder::stream(file.path), std::logic_error);
  {
    executor_pool first{named("rec.str1")};
    executor_pool second{named("rec.str2")};
    for (int i = 0; i < 10; ++i)
      hop_twice(first, second);
    recorder::stop_stream();
  }
  const auto trace = converted(file.bytes());
  CHECK(trace.remarks.empty());
  const perfetto_reader read{trace.bytes};
  CHECK(read.nesting_problem() == "");
  CHECK(read.count("rec.str1", 1, "work of a hop") == 10);
}

TEST_CASE("a signal that the program asks for writes the recording") {
  scratch_file file;
  executor_pool first{named("rec.sig1")};
  executor_pool second{named("rec.sig2")};
  hop_twice(first, second);
  recorder::write_on_signal(SIGUSR2, file.path);
  std::raise(SIGUSR2);
  std::signal(SIGUSR2, SIG_DFL);
  const perfetto_reader read{converted(file.bytes()).bytes};
  CHECK(read.nesting_problem() == "");
  CHECK(read.count("rec.sig1", 1, "work of a hop") == 1);
  CHECK_THROWS_AS(recorder::write_on_signal(SIGKILL, file.path), std::system_error);
  CHECK_THROWS_AS(recorder::write_on_signal(SIGUSR2, std::string(5000, 'x')),
                  std::invalid_argument);
}

TEST_CASE("a program that ends by a fatal signal leaves its recording") {
  scratch_file file;
  const auto [said, signal] = basal::test::in_child([&] {
    recorder::write_when_fatal(file.path);
    executor_pool first{named("rec.fatal1")};
    executor_pool second{named("rec.fatal2")};
    hop_twice(first, second);
    std::abort();
  });
  CHECK(signal == SIGABRT);
  CHECK(said == "");
  const auto trace = converted(file.bytes());
  CHECK(trace.remarks.empty());
  CHECK(perfetto_reader{trace.bytes}.count("rec.fatal1", 1, "work of a hop") == 1);
}

TEST_CASE("a file that cannot be written is an error with cause and remedy") {
  auto said = [](auto act) -> std::string {
    try {
      act();
    } catch (const std::system_error& problem) {
      return problem.what();
    }
    return {};
  };
  executor_pool pool{named("rec.bad")};
  CHECK(
    said([] { recorder::write("/nonexistent/trace"); })
    == "basal: cannot write the flight recording /nonexistent/trace; make room there, or name a "
       "file in a folder that this process may write to: No such file or directory");
  CHECK(said([] { recorder::write("/dev/full"); }).ends_with("No space left on device"));
  CHECK(
    said([] { recorder::stream("/nonexistent/trace"); }).ends_with("No such file or directory"));
}

TEST_CASE("a stream whose disk is full says so, and the program goes on") {
  const auto [said, signal] = basal::test::in_child([] {
    recorder::stream("/dev/full");
    recorder::stop_stream();
  });
  CHECK(signal == 0);
  CHECK(said.starts_with("basal.executors: the stream of records ends: cannot write /dev/full: "));
}

TEST_CASE("a recording that was cut off is converted as far as it goes") {
  scratch_file file;
  executor_pool first{named("rec.cut1")};
  executor_pool second{named("rec.cut2")};
  hop_twice(first, second);
  recorder::write(file.path);
  const auto bytes = file.bytes();
  for (std::size_t length = 64; length < bytes.size(); length += 97) {
    const auto trace = converted(std::string_view{bytes}.substr(0, length));
    CHECK(trace.remarks.starts_with("it was cut off"));
    CHECK(perfetto_reader{trace.bytes}.nesting_problem() == "");
  }
}

TEST_CASE("what is no recording, or of another build, is refused with a sentence") {
  scratch_file file;
  recorder::write(file.path);
  auto bytes = file.bytes();
  CHECK(problem_of("") != "");
  CHECK(problem_of(std::string(100, 'x')).starts_with("is no flight recording"));
  bytes[8] = 99;
  CHECK(problem_of(bytes).starts_with("is of another build (format 99"));
}

TEST_CASE("names and lengths of a damaged recording do no harm") {
  scratch_file file;
  executor_pool first{named("rec.dmg1")};
  executor_pool second{named("rec.dmg2")};
  hop_twice(first, second);
  recorder::write(file.path);
  const auto bytes = file.bytes();
  for (std::size_t at = 64; at < bytes.size(); at += 31) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const auto trace = converted(damaged);
    CHECK(perfetto_reader{trace.bytes}.nesting_problem() == "");
  }
}

TEST_CASE("work is asked what it is to do, but not again within a moment") {
  static int asked;
  asked = 0;
  static constexpr work_ops ops{[](void*, executor&) noexcept {}, [](void*) noexcept {},
                                "a question", nullptr,
                                [](void*, basal::detail::recording&) noexcept {
                                  ++asked;
                                  return std::uint16_t{0};
                                }};
  auto* flight = basal::detail::recording::acquire("rec.asked", recorder::thread_bytes);
  REQUIRE(flight != nullptr);
  const auto moment = tick_clock::to_ticks(basal::detail::recording::ask_after);
  const work_item item{&asked, &ops};
  const auto before = flight->ring().written();
  auto present = 10 * moment;
  for (int i = 0; i < 5; ++i, present += (moment + 1) / 2)
    flight->begin(item, present);
  CHECK(asked == 3); // of 0, 1/2, 1, 3/2, 2 moments
  flight->begin(item, present + 2 * moment);
  CHECK(asked == 4);
  CHECK(flight->ring().written() - before == 6);
  basal::detail::recording::release(flight);
}

TEST_CASE("work that begins has the name of its own kind, whichever ran before") {
  const auto make = [](const char* kind) {
    return work_ops{[](void*, executor&) noexcept {}, [](void*) noexcept {}, kind};
  };
  static const work_ops one = make("one kind");
  static const work_ops other = make("another kind");
  auto* flight = basal::detail::recording::acquire("rec.kinds", recorder::thread_bytes);
  REQUIRE(flight != nullptr);
  const auto before = flight->ring().written();
  int object = 0;
  std::uint64_t present = 1;
  for (const auto* kind : {&one, &one, &other, &one, &other})
    flight->begin({&object, kind}, present++);
  std::array<basal::detail::record, 5> all;
  REQUIRE(flight->ring().read(before, all).second.size() == 5);
  std::string names;
  for (const auto& r : all)
    names += std::string{basal::detail::record_names::text(r.name())} + "; ";
  CHECK(names == "one kind; one kind; another kind; one kind; another kind; ");
  basal::detail::recording::release(flight);
}
