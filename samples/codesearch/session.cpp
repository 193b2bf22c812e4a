#include "session.hpp"

#include <caf/send.hpp>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>
#include <variant>

#include <poll.h>
#include <unistd.h>

#include "common/program.hpp"

#include "messages.hpp"
#include "report.hpp"

namespace codesearch {

namespace {

// Often enough to look alive. Ticks only while a progress line is shown.
constexpr int progress_interval_ms = 200;

template <class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
overloaded(Fs...) -> overloaded<Fs...>;

/// A word that people type to leave. To search for the words themselves, type "quit" or quit*.
bool ends_the_prompt(const std::string& line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == line.npos) {
    return false;
  }
  const auto last = line.find_last_not_of(" \t\r");
  const auto word = line.substr(first, last - first + 1);
  return word == "quit" || word == "exit";
}

} // namespace

session::session(const options& options, context_ptr run, caf::actor searcher)
  : options_(options),
    run_(std::move(run)),
    searcher_(std::move(searcher)),
    interactive_(options.queries.empty() && !options.queries_from_stdin
                 && ::isatty(STDIN_FILENO) == 1),
    asks_as_they_come_(interactive_ || (options.queries_from_stdin && ::isatty(STDIN_FILENO) == 1)),
    out_is_terminal_(::isatty(STDOUT_FILENO) == 1),
    reads_lines_(interactive_ || options.queries_from_stdin),
    to_ask_(options.queries.begin(), options.queries.end()) {
}

int session::loop(stop_signals& signals) {
  if (interactive_) {
    std::fputs("codesearch: indexing; ask at any time: words, get* for a prefix. "
               "An empty line shows the progress, Ctrl-D or quit ends.\n",
               stderr);
    print_prompt();
  }
  while (!finished()) {
    // At the prompt the line belongs to the user.
    const bool shows_progress = status_.enabled() && !interactive_ && !complete_;
    ::pollfd waits[] = {
      {signals.readable(), POLLIN, 0},
      {run_->events.readable(), POLLIN, 0},
      {reads_lines_ && !asking_ && to_ask_.empty() ? STDIN_FILENO : -1, POLLIN, 0},
    };
    if (::poll(waits, std::size(waits), shows_progress ? progress_interval_ms : -1) < 0
        && errno != EINTR) {
      throw std::system_error(errno, std::system_category(), "cannot wait for events");
    }
    if (const int signal = signals.take(); signal != 0) {
      run_->stop.store(true, std::memory_order_relaxed); // nothing is published by it
      say_interrupted();
      return 128 + signal;
    }
    for (const event& e : run_->events.take()) {
      on_event(e);
    }
    if (waits[2].revents != 0) {
      std::vector<std::string> lines;
      reads_lines_ = input_.read(lines);
      on_lines(lines);
      if (!reads_lines_ && interactive_) {
        quit_ = true;
        std::fputs("\n", stderr);
      }
    }
    if (shows_progress && !complete_) {
      status_.show(describe(progress(), since_start()));
    }
    ask_next();
  }
  status_.clear();
  return exit_status_;
}

void session::on_event(const event& e) {
  status_.clear();
  std::visit(overloaded{
               [this](const std::shared_ptr<const index_summary>& s) {
                 complete_ = true;
                 if (interactive_) {
                   std::fputs("\r\033[K", stderr);
                 }
                 print_summary(stdout, *s);
                 if (s->files == 0) {
                   samples::complain("codesearch", "found no files to index");
                 }
                 std::fflush(stdout);
                 if (s->skips.losses() > 0) {
                   samples::tell("codesearch", describe_skips(s->skips));
                 }
                 if (options_.strict && s->skips.losses() > 0) {
                   exit_status_ = exit_incomplete;
                 }
                 if (interactive_) {
                   print_prompt();
                 }
               },
               [this](const std::shared_ptr<const answer>& a) {
                 asking_ = false;
                 print_answer(stdout, *a, out_is_terminal_);
                 std::fflush(stdout);
                 if (interactive_ && to_ask_.empty()) {
                   print_prompt();
                 }
               },
               [this](const indexing_failed& f) {
                 // If memory is out, other builds fail, too, until they see the flag.
                 if (!run_->stop.exchange(true, std::memory_order_relaxed)) {
                   samples::complain("codesearch", f.message);
                 }
                 quit_ = true;
                 exit_status_ = exit_incomplete;
               },
             },
             e);
}

void session::on_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (interactive_ && ends_the_prompt(line)) {
      quit_ = true;
      return;
    }
    if (line.find_first_not_of(" \t\r") == line.npos) {
      if (interactive_) {
        samples::tell("codesearch",
                      complete_ ? "the index is complete" : describe(progress(), since_start()));
      } else {
        samples::complain("codesearch", "an empty query: write one or more words");
      }
      continue;
    }
    parsed_query parsed = parse_query(line);
    if (parsed) {
      to_ask_.push_back(std::move(parsed.value));
    } else {
      samples::complain("codesearch", parsed.error);
    }
  }
  if (interactive_ && reads_lines_ && to_ask_.empty()) {
    print_prompt();
  }
}

void session::ask_next() {
  // A script wants its queries answered from all of the tree, a person soon.
  if (asking_ || to_ask_.empty() || !(complete_ || asks_as_they_come_)) {
    return;
  }
  asking_ = true;
  caf::anon_send(searcher_,
                 search_request{std::move(to_ask_.front()), options_.top,
                                [run = run_](event e) { run->events.post(std::move(e)); }});
  to_ask_.pop_front();
}

void session::print_prompt() {
  std::string prompt = "search";
  if (!complete_) {
    const progress_state p = progress();
    prompt = "search (" + grouped(p.files_done) + " of " + (p.walk_done ? "" : "at least ")
             + grouped(p.files_listed) + " files so far)";
  }
  std::fprintf(stderr, "%s> ", prompt.c_str());
  std::fflush(stderr);
}

bool session::finished() const noexcept {
  return quit_ || (complete_ && !reads_lines_ && !asking_ && to_ask_.empty());
}

std::chrono::duration<double> session::since_start() const {
  return std::chrono::steady_clock::now() - run_->start;
}

void session::say_interrupted() {
  status_.clear();
  const progress_state p = progress();
  if (interactive_) {
    std::fputs("\n", stderr);
  }
  samples::tell("codesearch", complete_ ? "interrupted"
                                        : "interrupted after " + grouped(p.files_done) + " of "
                                            + (p.walk_done ? "" : "at least ")
                                            + grouped(p.files_listed) + " files");
}

} // namespace codesearch
