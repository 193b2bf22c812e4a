#pragma once

#include <basal/actors/detail/named_field.hpp>

#include <caf/meta/type_name.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace basal::actors {

/// Kinds of warnings about a running program.
enum class warning_kind : std::uint8_t {
  long_handler,
  blocked_executor,
  long_wait,
  growing_mailbox,
  nothing_stolen,
  memory_limit,
  collection,
  dear_offload,
  lost_records,
  refused_tasks,
};

/// The text that all warnings of a kind have in common.
struct warning_text {
  const char* name;    ///< of the enumerator
  const char* meaning; ///< a sentence: what is wrong
  const char* remedy;  ///< a sentence: what to do

  /// For how long it must be seen before it is raised. An event needs no time.
  std::chrono::milliseconds seen_for;
};

constexpr warning_text describe(warning_kind kind) noexcept {
  using std::chrono::milliseconds;
  constexpr milliseconds at_once{0};
  constexpr milliseconds lasting{1000};
  switch (kind) {
  case warning_kind::long_handler:
    return {"long_handler", "handlers keep a message executor for more than a quantum",
            "Fork or call poll() in what the handler computes, or make it adaptive, or offload it.",
            lasting};
  case warning_kind::blocked_executor:
    return {"blocked_executor", "an executor waits in the kernel, in the middle of its work",
            "Make what blocks a detached actor; or, to wait for another actor, use request().then "
            "or get.",
            lasting};
  case warning_kind::long_wait:
    return {"long_wait", "no executor is idle, and work waits long for one",
            "Offload computations, give background work a lower priority, or submit less.",
            lasting};
  case warning_kind::growing_mailbox:
    return {"growing_mailbox", "an actor is sent more messages than it handles",
            "Send to it only as much as it has answered for, or divide its work among several "
            "actors.",
            lasting};
  case warning_kind::nothing_stolen:
    return {"nothing_stolen", "computations fork while executors are idle, and nothing is stolen",
            "Change the limit or option that the reason names.", lasting};
  case warning_kind::memory_limit:
    return {"memory_limit", "computations reach their memory limit, or come near it",
            "Raise basal.memory-limit, lower basal.cabal-limit, or give them smaller inputs.",
            at_once};
  case warning_kind::collection:
    return {"collection", "collections of the shared heap stop the program too often",
            "Keep less in collected memory, or collect less often: posse::gc::set_least_garbage.",
            lasting};
  case warning_kind::dear_offload:
    return {"dear_offload", "sending handlers away costs far more than was expected",
            "Start fewer compute executors than there are CPUs, or keep the handler with "
            "inline_only.",
            lasting};
  case warning_kind::lost_records:
    return {"lost_records", "a stream of flight records cannot keep up",
            "Write the trace to a faster disk; gaps are marked in it.", at_once};
  case warning_kind::refused_tasks:
    return {"refused_tasks", "background tasks are refused, or end before they begin",
            "Submit fewer, raise background_config::max_queued, or have the submitter wait for "
            "room.",
            at_once};
  }
  return {};
}

/// Kinds are numbered from 0 to below this.
inline constexpr std::size_t warning_kinds = [] {
  std::size_t count = 0;
  while (describe(static_cast<warning_kind>(count)).name != nullptr)
    ++count;
  return count;
}();

/// One that holds now.
struct warning {
  std::string kind;           ///< name of its warning_kind
  std::string subject;        ///< an actor's type, an executor, a handler; or empty
  std::string cause;          ///< a sentence
  std::string remedy;         ///< likewise
  std::uint64_t since_ms = 0; ///< when it was first seen: milliseconds since 1970

  friend bool operator==(const warning&, const warning&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, warning& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("warning"), field("kind", x.kind), field("subject", x.subject),
           field("cause", x.cause), field("remedy", x.remedy), field("since_ms", x.since_ms));
}

} // namespace basal::actors
