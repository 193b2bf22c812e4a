#include "support/interleave/run.hpp"

#include <array>

namespace basal::interleave {

namespace {

/// Room for what a test does below an operation, and for AddressSanitizer's
/// wider frames.
constexpr std::size_t stack_bytes = 256 * 1024;

run* current_run = nullptr;

} // namespace

run* run::current() noexcept {
  return current_run;
}

run::run(chooser& c, const limits& bounds, std::deque<coroutine>& stacks, bool traced)
  : chooser_(c), bounds_(bounds), stacks_(stacks), traced_(traced) {
  current_run = this;
  threads_.reserve(max_threads); // their views are referred to
  threads_.emplace_back();
  threads_[0].name = "scenario";
  threads_[0].now = state::blocked; // while others run
}

run::~run() {
  current_run = nullptr;
}

void run::thread(std::string_view name, std::function<void()> body, bool may_sleep) {
  if (threads_.size() == max_threads)
    fail("too many threads; a scenario has at most", max_threads - 1);
  auto& t = threads_.emplace_back();
  t.name = name;
  t.body = std::move(body);
  t.may_sleep = may_sleep;
  if (stacks_.size() < threads_.size())
    stacks_.emplace_back(stack_bytes);
}

void run::go() {
  start_threads();
  if (failure_.empty())
    pass_on();
  running_ = 0;
  std::string asleep;
  for (const auto& t : threads_)
    if (t.now == state::blocked && !t.may_sleep && &t != threads_.data())
      asleep += asleep.empty() ? t.name : ", " + t.name;
  if (failure_.empty() && !asleep.empty())
    note_failure("sleeps for ever: " + asleep);
  if (!failure_.empty())
    throw violation{};
}

/// Brings each thread to its first operation.
void run::start_threads() {
  tick();
  starting_ = true;
  for (std::size_t i = 1; i < threads_.size() && failure_.empty(); ++i) {
    threads_[i].known = threads_[0].known;
    threads_[i].known.clock[i] = 1;
    stacks_[i].prepare([](void* self) { static_cast<run*>(self)->run_thread(); }, this);
    switch_to(i);
  }
  starting_ = false;
}

void run::run_thread() {
  auto& self = threads_[running_];
  self.body();
  self.now = state::ended;
  if (starting_)
    switch_to(0);
  check_invariant();
  pass_on();
}

void run::switch_to(std::size_t next) {
  auto from = running_;
  running_ = next;
  coroutine::switch_to(stacks_[from], stacks_[next]);
}

void run::point() {
  if (observing())
    return;
  ++steps_;
  if (starting_) {
    switch_to(0);
    return;
  }
  if (steps_ > bounds_.steps)
    fail("has not ended; operations so far:", steps_);
  check_invariant();
  pass_on();
}

void run::pass_on() {
  std::array<std::size_t, max_threads> ready;
  std::uint32_t count = 0;
  auto goes_on = threads_[running_].now == state::ready;
  if (goes_on)
    ready[count++] = running_;
  for (std::size_t i = 1; i < threads_.size(); ++i)
    if (i != running_ && threads_[i].now == state::ready)
      ready[count++] = i;
  std::size_t next = 0; // nobody can go on: back to the scenario
  if (count == 1)
    next = ready[0];
  else if (count > 1)
    next = ready[choose(goes_on ? choice::preemption : choice::successor, count)];
  if (next != running_)
    switch_to(next);
}

void run::block(const void* address) {
  auto& self = threads_[running_];
  if (traced())
    note("sleeps");
  self.now = state::blocked;
  self.asleep_on = address;
  check_invariant();
  pass_on();
}

void run::wake(const void* address) noexcept {
  for (auto& t : threads_)
    if (t.now == state::blocked && t.asleep_on == address) {
      t.now = state::ready;
      t.asleep_on = nullptr;
      return;
    }
}

std::uint32_t run::choose(choice kind, std::uint32_t options) {
  auto picked = chooser_.choose(kind, options);
  if (picked != 0)
    deviations_.push_back({choices_, picked});
  ++choices_;
  return picked;
}

void run::check_invariant() {
  if (!invariant_)
    return;
  observing_ = true;
  invariant_();
  observing_ = false;
}

void run::fail(std::string_view what, std::int64_t number) {
  note_failure(std::string{what} + " " + std::to_string(number));
  end_as_failure();
}

void run::fail(std::string_view what) {
  note_failure(what);
  end_as_failure();
}

void run::note_failure(std::string_view what) {
  if (running_ != 0)
    failure_ = threads_[running_].name + ": ";
  failure_ += what;
}

void run::end_as_failure() {
  if (running_ == 0)
    throw violation{};
  switch_to(0); // for good
}

std::uint32_t run::new_atomic() {
  if (atomics_ == max_atomics)
    fail("too many atomics; a scenario has at most", max_atomics);
  return atomics_++;
}

void run::note(std::string line) {
  trace_.push_back("  " + threads_[running_].name + ": " + std::move(line));
}

} // namespace basal::interleave
