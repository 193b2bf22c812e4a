// One piece: what the coordinator promises CAF and its users, and how its executors are set up.
// Each test needs a whole actor system.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/detail/scheduler.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/executors/detail/time_slice.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/resumable.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/thread_hook.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace std::chrono_literals;

namespace {

using basal::posse::member;
using basal::posse::pure;
using caf::behavior;
using caf::event_based_actor;
using go_atom = caf::atom_constant<caf::atom("go")>;

/// Long enough for anything that works; only a broken program waits this long.
constexpr auto patience = 60s;

/// Computes until told to stop: with a fork at every step, so that it meets safepoints.
struct endless {
  std::atomic<bool> stop{false};
  std::atomic<bool> begun{false};
};

int compute_until_stopped(member& m, endless* control) {
  control->begun.store(true);
  control->begun.notify_all();
  int steps = 0;
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (!control->stop.load(std::memory_order_relaxed)) {
    auto [a, b] = m.fork_merge([](member&) { return 1; }, [](member&) { return 1; });
    steps += a + b;
    if (steps % 1024 == 0 && std::chrono::steady_clock::now() > give_up)
      return -1;
  }
  return 1;
}
constexpr pure<compute_until_stopped> pure_compute{"compute_until_stopped"};

/// Computes until told to stop, without a fork.
int spin_until_stopped(member&, endless* control) {
  control->begun.store(true);
  control->begun.notify_all();
  while (!control->stop.load(std::memory_order_relaxed))
    std::this_thread::yield();
  return 1;
}
constexpr pure<spin_until_stopped> pure_spin{"spin_until_stopped"};

struct fixture {
  basal::actor_system_config cfg;
  caf::actor_system system;
  caf::scoped_actor self{system};

  explicit fixture(std::size_t executors = 1) : system(configured(cfg, executors)) {
  }

  static basal::actor_system_config& configured(basal::actor_system_config& cfg,
                                                std::size_t executors) {
    cfg.set("basal.message-executors", executors);
    cfg.set("basal.compute-executors", std::size_t{1});
    return cfg;
  }

  /// An actor that answers with what it got.
  caf::actor echo() {
    return system.spawn([]() -> behavior { return {[](int x) { return x; }}; });
  }

  template <class... Args>
  int ask(const caf::actor& whom, const Args&... args) {
    int result = 0;
    self->request(whom, patience, args...)
      .receive([&](int x) { result = x; }, [&](caf::error& err) { FAIL(system.render(err)); });
    return result;
  }
};

} // namespace

TEST_CASE_METHOD(fixture,
                 "an actor answers while another one's handler computes on the only executor") {
  endless control;
  auto run = [&](auto handler) {
    auto worker = system.spawn([handler](event_based_actor* me) -> behavior {
      return {[me, handler](go_atom) { return handler(me); }};
    });
    auto other = echo();
    auto answer = self->request(worker, patience, go_atom::value);
    control.begun.wait(false);
    // The worker's handler has begun and ends only after the echo has come.
    CHECK(ask(other, 1) == 1);
    CHECK(ask(other, 2) == 2);
    control.stop.store(true);
    std::move(answer).receive([](int x) { CHECK(x == 1); },
                              [&](caf::error& err) { FAIL(system.render(err)); });
  };
  SECTION("in time slices") {
    run([&control](event_based_actor* me) { return pure_compute(me, &control); });
  }
  SECTION("offloaded") {
    run([&control](event_based_actor* me) { return pure_compute.offload(me, &control); });
  }
}

TEST_CASE_METHOD(fixture, "messages to a suspended handler's actor wait for it") {
  endless control;
  std::vector<int> log;
  auto worker = system.spawn([&](event_based_actor* me) -> behavior {
    return {[&, me](go_atom) {
              log.push_back(1);
              auto result = pure_compute.offload(me, &control);
              log.push_back(2);
              return result;
            },
            [&](int x) {
              log.push_back(x);
              return x;
            }};
  });
  auto answer = self->request(worker, patience, go_atom::value);
  control.begun.wait(false);
  auto later = self->request(worker, patience, 3);
  CHECK(ask(echo(), 7) == 7); // the executor has seen the message by now, and lives
  control.stop.store(true);
  answer.receive([](int) {}, [&](caf::error& err) { FAIL(system.render(err)); });
  later.receive([](int) {}, [&](caf::error& err) { FAIL(system.render(err)); });
  CHECK(log == std::vector<int>{1, 2, 3});
}

TEST_CASE_METHOD(fixture, "an actor that never runs out of messages leaves room for others") {
  static std::atomic<bool> stop; // the actor outlives the test case
  stop.store(false);
  auto greedy = system.spawn([](event_based_actor* me) -> behavior {
    return {[me](int x) {
      me->send(me, x + 1);
      if (stop.load())
        me->quit();
    }};
  });
  self->send(greedy, 0);
  auto other = echo();
  for (int i = 1; i <= 100; ++i)
    CHECK(ask(other, i) == i);
  stop.store(true);
  self->wait_for(greedy);
}

TEST_CASE_METHOD(fixture, "actors that nobody holds any more are destroyed") {
  static std::atomic<int> living{0};
  struct counted : event_based_actor {
    explicit counted(caf::actor_config& config) : event_based_actor(config) {
      ++living;
    }
    ~counted() override {
      --living;
    }
    behavior make_behavior() override {
      return {[this](int x) {
        if (x == 0)
          quit();
        return x;
      }};
    }
  };
  for (int i = 0; i < 1000; ++i) {
    auto one = system.spawn<counted>();
    if (i % 3 == 0)
      CHECK(ask(one, i) == i);
    else if (i % 3 == 1)
      self->send_exit(one, caf::exit_reason::kill);
    else
      caf::anon_send(one, 5); // and nobody holds it from here on
  }
  self->await_all_other_actors_done();
  // An executor may hold the last reference a moment longer than the registry.
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (living != 0 && std::chrono::steady_clock::now() < give_up)
    std::this_thread::yield();
  CHECK(living == 0);
}

TEST_CASE("a handler that blocks its thread does not hold up the actor that it has sent to") {
  fixture f{2};
  auto plus = f.system.spawn([]() -> behavior {
    return {[](int x) { return x + 1; }, [](double) {}};
  });
  // Bad manners, but CAF programs do it, and with a second worker it works.
  auto asking = f.system.spawn([plus](event_based_actor* me) -> behavior {
    return {[plus, me](int x) {
      int answer = 0;
      me->send(plus, 0.5); // queues `plus` on this very executor
      caf::scoped_actor inner{me->system()};
      inner->request(plus, patience, x).receive([&](int y) { answer = y; }, [](caf::error&) {});
      return answer;
    }};
  });
  for (int i = 0; i < 20; ++i)
    CHECK(f.ask(asking, i) == i + 1);
}

TEST_CASE("what else CAF schedules runs once and is released") {
  struct task : caf::resumable, caf::ref_counted {
    std::atomic<int>* runs; // with a unit; Catch's assertions are for one thread at a time
    std::atomic<int>* destroyed;
    int left = 3;

    task(std::atomic<int>& r, std::atomic<int>& d) : runs(&r), destroyed(&d) {
    }
    ~task() override {
      ++*destroyed;
    }

    subtype_t subtype() const override {
      return function_object;
    }

    resume_result resume(caf::execution_unit* unit, std::size_t) override {
      *runs += unit != nullptr ? 1 : 0;
      return --left == 0 ? done : resume_later;
    }

    void intrusive_ptr_add_ref_impl() override {
      ref();
    }
    void intrusive_ptr_release_impl() override {
      deref();
    }
  };
  std::atomic<int> runs{0};
  std::atomic<int> destroyed{0};
  {
    fixture f{2};
    for (int i = 0; i < 100; ++i)
      f.system.scheduler().enqueue(new task(runs, destroyed));
    while (destroyed != 100)
      std::this_thread::yield();
    CHECK(runs == 300);
  }
  CHECK(destroyed == 100);
}

TEST_CASE(
  "the clock's thread has its signals and CPUs from the system's maker, not from who waits") {
  struct look {
    sigset_t blocked{};
    cpu_set_t cpus{};

    look() {
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      sched_getaffinity(0, sizeof cpus, &cpus);
    }
  };
  struct comparing_hook : caf::thread_hook {
    const look makers;
    std::atomic<int>& others;
    explicit comparing_hook(std::atomic<int>& o) : others(o) {
    }
    void init(caf::actor_system&) override {
    }
    void thread_started() override {
      const look mine;
      if (sigismember(&mine.blocked, SIGUSR1) != sigismember(&makers.blocked, SIGUSR1)
          || !CPU_EQUAL(&mine.cpus, &makers.cpus))
        ++others;
    }
    void thread_terminates() override {
    }
  };
  std::atomic<int> others{0};
  basal::actor_system_config cfg;
  cfg.add_thread_hook<comparing_hook>(std::ref(others));
  caf::actor_system system{cfg};
  std::thread{[&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
    caf::scoped_actor self{system};
    self->delayed_send(self, 1ms, go_atom::value);
    self->receive([](go_atom) {});
  }}.join();
  CHECK(others == 0);
}

TEST_CASE("message executors have a time slice of their own, and the threads they start do not") {
  bool may_ask = false;
  std::thread{[&] { may_ask = basal::executors::detail::use_time_slice(100us); }}.join();
  if (!may_ask)
    return;
  basal::actor_system_config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  const auto is_reset_on_fork = [] { return (sched_getscheduler(0) & SCHED_RESET_ON_FORK) != 0; };
  system.spawn([&, asks = caf::actor_cast<caf::actor>(self)](event_based_actor* asked) {
    bool started_has = true;
    std::thread{[&] { started_has = is_reset_on_fork(); }}.join();
    asked->send(asks, is_reset_on_fork(), started_has);
  });
  self->receive([](bool executor_has, bool started_has) {
    CHECK(executor_has);
    CHECK_FALSE(started_has);
  });
}

TEST_CASE("message executors have somebody to tell that they free a CPU") {
  fixture f;
  auto tells = f.system.spawn([]() -> behavior {
    return {[](int) {
      const auto& hooks = basal::executors::executor::current()->pool().config().hooks;
      if (hooks.frees_cpu == nullptr)
        return 0;
      hooks.frees_cpu(hooks.context); // as often as somebody likes
      return 1;
    }};
  });
  CHECK(f.ask(tells, 0) == 1);
}

TEST_CASE("message executors have somebody to ask whom they crowd out") {
  fixture f;
  auto looks = f.system.spawn([]() -> behavior {
    return {[](int) {
      const auto& self = *basal::executors::executor::current();
      const auto& hooks = self.pool().config().hooks;
      if (hooks.crowds == nullptr)
        return 0;
      hooks.crowds(hooks.context, self);
      return 1;
    }};
  });
  CHECK(f.ask(looks, 0) == 1);
}

TEST_CASE("message executors beyond the CPUs are for long handlers, and beside computations") {
  fixture f;
  auto looks = f.system.spawn([]() -> behavior {
    return {[](int) {
      const auto& config = basal::executors::executor::current()->pool().config();
      CHECK(config.share_cpus == basal::executors::usable_cpus());
      CHECK(config.keep_apart);
      CHECK(config.look_worth == basal::executors::executor::wake_up);
      CHECK(config.looks_per_run == 1);
      return config.hooks.has_cpu(config.hooks.context) ? 1 : 0;
    }};
  });
  auto& compute = basal::actors::scheduler::of(f.system)->compute().compute();
  while (compute.num_running() > 0) // it may be about to sleep
    std::this_thread::yield();
  CHECK(f.ask(looks, 0) == 0);
  struct task {
    std::atomic<bool> goes_on{true};
    basal::executors::completion done;
  } running;
  static constexpr basal::executors::work_ops ops{
    [](void* object, basal::executors::executor&) noexcept {
      auto& mine = *static_cast<task*>(object);
      while (mine.goes_on) { // without a yield: who has little of a CPU seems to be blocked
      }
      mine.done.set();
    },
    nullptr};
  REQUIRE(compute.submit({&running, &ops}));
  while (f.ask(looks, 0) == 0) {
    // Again: it had so little of a CPU that it seemed to be blocked.
  }
  const auto& messages = basal::actors::scheduler::of(f.system)->messages();
  while (!messages.work_takes_long()) // and for a while after it, once it has lasted for 100 us
    f.ask(looks, 0);
  running.goes_on = false;
  running.done.wait();
}

TEST_CASE("short computations give messages no executors beyond the CPUs for long") {
  struct task {
    const basal::executors::pool_hooks* asks; ///< null: nothing
    basal::executors::completion done;
  };
  static constexpr basal::executors::work_ops ops{
    [](void* object, basal::executors::executor&) noexcept {
      auto& mine = *static_cast<task*>(object);
      if (mine.asks != nullptr)
        CHECK(mine.asks->has_cpu(mine.asks->context)); // it has just begun
      mine.done.set();
    },
    nullptr};
  const auto is_remembered = [] {
    fixture f; // a new one: a system without work forgets nothing
    auto& scheduler = *basal::actors::scheduler::of(f.system);
    const auto& messages = scheduler.messages();
    auto& compute = scheduler.compute().compute();
    for (const auto* hooks :
         {static_cast<const basal::executors::pool_hooks*>(nullptr), &messages.config().hooks}) {
      task brief{hooks, {}};
      REQUIRE(compute.submit({&brief, &ops}));
      brief.done.wait();
      while (compute.num_running() > 0)
        std::this_thread::yield();
    }
    return messages.work_takes_long();
  };
  bool always = true;
  for (int i = 0; always && i < 20; ++i) // it may lose its CPU
    always = is_remembered();
  CHECK_FALSE(always);
}

TEST_CASE("message executors beyond the CPUs are for messages beside a handler that computes") {
  endless control;
  fixture f{2}; // ends, and with it the handler, before what that looks at
  f.self->send(f.system.spawn([&control](event_based_actor* me) -> behavior {
    return {[me, &control](go_atom) { return pure_spin(me, &control); }};
  }),
               go_atom::value);
  control.begun.wait(false);
  auto& scheduler = *basal::actors::scheduler::of(f.system);
  const auto& hooks = scheduler.messages().config().hooks;
  while (scheduler.compute().compute().num_running() > 0) // nobody forks: it is about to sleep
    std::this_thread::yield();
  CHECK(hooks.has_cpu(hooks.context));
  CHECK(scheduler.messages().work_takes_long()); // and for a while after it
  control.stop.store(true);
}

TEST_CASE("message executors look for longer than they always do while nobody computes") {
  fixture f{2};
  auto& messages = basal::actors::scheduler::of(f.system)->messages();
  const auto& hooks = messages.config().hooks;
  auto may_look = [&] { return hooks.may_look(hooks.context, messages.at(0)); };
  while (!may_look()) // those that have just begun sleep soon
    std::this_thread::yield();
  messages.expect_long_work(1s);
  CHECK_FALSE(may_look());
}

TEST_CASE("where nothing ran, CAF's own actors end on the thread that ends the system") {
  std::thread::id ended_on;
  {
    basal::actor_system_config cfg;
    caf::actor_system system{cfg};
    auto* own = caf::actor_cast<caf::abstract_actor*>(system.spawn_serv());
    dynamic_cast<caf::monitorable_actor&>(*own).attach_functor(
      [&] { ended_on = std::this_thread::get_id(); });
  }
  CHECK(ended_on == std::this_thread::get_id());
}

TEST_CASE("executors and the clock begin when there is something for them, as thread hooks see") {
  struct counting_hook : caf::thread_hook {
    std::atomic<int>& started;
    std::atomic<int>& ended;
    counting_hook(std::atomic<int>& s, std::atomic<int>& e) : started(s), ended(e) {
    }
    void init(caf::actor_system&) override {
    }
    void thread_started() override {
      ++started;
    }
    void thread_terminates() override {
      ++ended;
    }
  };
  std::atomic<int> started{0};
  std::atomic<int> ended{0};
  auto threads_of = [&](auto use) {
    started = ended = 0;
    {
      basal::actor_system_config cfg;
      cfg.set("basal.message-executors", std::size_t{3});
      cfg.add_thread_hook<counting_hook>(std::ref(started), std::ref(ended));
      caf::actor_system system{cfg};
      use(system);
    }
    CHECK(started == ended);
    return started.load();
  };
  CHECK(threads_of([](caf::actor_system&) {}) == 2); // the first executor, the printer
  CHECK(threads_of([](caf::actor_system& system) {
          system.spawn([](event_based_actor* self) -> behavior {
            self->delayed_send(self, 1ms, go_atom::value);
            return {[self](go_atom) { self->quit(); }};
          });
        })
        >= 3); // and the clock
}
