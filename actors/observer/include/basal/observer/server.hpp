#pragma once

#include <caf/fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace basal::observer {

/// A box on the page in which people ask the program a question: a search, say.
struct question_box {
  static constexpr std::size_t most_question_bytes = 1000; ///< longer ones are refused
  static constexpr std::size_t most_answer_bytes = 65536;  ///< the rest of an answer is cut off

  /// Its purpose in a few words: "Search the index".
  std::string label = {};

  /// The answer to a question that is not empty: lines of text. Called on threads of the observer,
  /// by two at a time at most. The observer's destructor waits for it, so it should give up after
  /// a few seconds. The words of an exception are shown in the answer's stead. Null: no box.
  std::function<std::string(const std::string& question)> answer = {};
};

/// Settings of an observer that a program gives in code; each may be left out.
struct options {
  /// Address and port on the loopback interface: "127.0.0.1:7420", "localhost:0" (any free port),
  /// "[::1]:7420", or the address alone, which means port 7420. Empty: the option `basal.observer`
  /// of the actor system says; empty as well: nobody listens.
  std::string listen = {};

  /// Further values of the header `Host` that are answered, with their ports: "localhost:8080"
  /// where a tunnel's other end is. Requests for other hosts are refused, since a page of another
  /// site can have its name lead to this machine.
  std::vector<std::string> hosts = {};

  /// A token that opens `/metrics` and nothing else: at least 32 letters, digits, - and _. Empty:
  /// the observer's own token is needed.
  std::string metrics_token = {};

  /// The token that opens everything, of the same form. Empty: random, and new for each observer.
  /// With one that stays, an open page goes on when its program has been started again.
  std::string token = {};

  /// `/readyz` answers 503 while more background tasks wait than this, so that whoever hands out
  /// requests leaves the program alone for a while. 0: however many wait.
  std::uint64_t ready_up_to_queued = 0;

  /// The same while the process has more resident memory than this. 0: however much.
  std::uint64_t ready_up_to_bytes = 0;

  /// Questions that the program answers, on the page and at `/api/v1/ask?text=`.
  question_box box = {};
};

/// Shows what an actor system on basal does, over HTTP, to who knows its token: a page, the same as
/// JSON once or as a stream, metrics for Prometheus, and whether it lives. docs/observer.md has the
/// list.
///
/// It reads the system's statistics on threads of its own, when it is asked, and neither stops nor
/// wakes an executor. It shares three kinds of locks with executors, each held while a table is
/// copied or a number is read: those of overruns and backlogs, which an executor takes at most once
/// a quantum; that of a family of choosers, which a chooser takes when it reports; and, where a
/// solver shows itself, those of its permits and plans. Unless somebody looks, the
/// observer collects nothing and sleeps, except for one look every two seconds at whether it is to
/// stop.
///
/// Must be destroyed before its actor system. Constructor and destructor: not on an executor.
class server {
public:
  /// Listens, and logs its address with the token, as `basal.actors` at level info. An observer
  /// that cannot listen does no harm to its program: it logs an error, and problem() says why.
  /// @throws std::logic_error if `system` does not run on basal
  explicit server(caf::actor_system& system, options given = {});

  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Ends the streams of all subscribers, then all threads; waits up to 5 s for a subscriber that
  /// does not read.
  ~server();

  /// The address, with the token that gives the right to look. Empty if it does not listen.
  const std::string& url() const noexcept;

  /// Why it does not listen though it was told to: cause and remedy in one sentence. Empty if it
  /// listens, or nobody told it to.
  const std::string& problem() const noexcept;

  /// `/readyz` answers 503 with this reason from now on, or 200 where it is empty, as at the start;
  /// also then with 503 beyond the limits that the options give. Any thread.
  void not_ready(std::string why);

private:
  class implementation;
  std::unique_ptr<implementation> implementation_;
};

} // namespace basal::observer
