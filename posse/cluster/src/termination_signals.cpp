#include <basal/cluster/termination_signals.hpp>

#include <csignal>
#include <thread>

#include <pthread.h>

namespace basal::cluster {

struct termination_signals::state {
  sigset_t before{};
  sigset_t waited{};
  std::stop_source source;
  std::thread thread;
};

termination_signals::termination_signals() : state_(std::make_unique<state>()) {
  auto& s = *state_;
  sigemptyset(&s.waited);
  sigaddset(&s.waited, SIGTERM);
  sigaddset(&s.waited, SIGINT);
  pthread_sigmask(SIG_BLOCK, &s.waited, &s.before);
  s.thread = std::thread{[&s] {
    int number = 0;
    sigwait(&s.waited, &number);
    s.source.request_stop();
  }};
}

termination_signals::~termination_signals() {
  auto& s = *state_;
  pthread_kill(s.thread.native_handle(), SIGTERM); // to that thread alone
  s.thread.join();
  pthread_sigmask(SIG_SETMASK, &s.before, nullptr);
}

std::stop_token termination_signals::token() const noexcept {
  return state_->source.get_token();
}

} // namespace basal::cluster
