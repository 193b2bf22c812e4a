#pragma once

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <deque>
#include <string>

#include "cli.hpp"
#include "context.hpp"
#include "terminal.hpp"

namespace codesearch {

/// The main thread's part of a run: sleeps in poll(2) until a signal, an event of the actors or a
/// line of input arrives, prints answers, progress and summary, and asks one query at a time.
class session {
public:
  /// `options` must outlive the session.
  session(const options& options, context_ptr run, caf::actor searcher);

  /// Returns when everything is answered, or at a signal. The exit status: see cli.hpp; 128 + n
  /// after signal n.
  int loop(stop_signals& signals);

private:
  void on_event(const event& e);
  void on_lines(const std::vector<std::string>& lines);
  void ask_next();
  void print_prompt();
  [[nodiscard]] bool finished() const noexcept;
  [[nodiscard]] progress_state progress() const {
    return snapshot(run_->progress);
  }
  [[nodiscard]] std::chrono::duration<double> since_start() const;
  void say_interrupted();

  const options& options_;
  context_ptr run_;
  caf::actor searcher_;

  bool interactive_;       // there is a prompt
  bool asks_as_they_come_; // of what is indexed so far, since somebody watches
  bool out_is_terminal_;
  bool reads_lines_;
  status_line status_;
  line_input input_;

  std::deque<query> to_ask_;
  bool asking_ = false;
  bool complete_ = false;
  bool quit_ = false; // at the prompt
  int exit_status_ = exit_ok;
};

} // namespace codesearch
