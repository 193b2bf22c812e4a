/// Bodies of the frames that coordinator and workers send each other.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <basal/cluster/codec.hpp>
#include <basal/cluster/detail/frame.hpp>
#include <basal/cluster/detail/hash.hpp>

namespace basal::cluster::detail {

/// One run of one batch: a hash of what it computes, and a random number.
struct batch_id {
  std::uint64_t content = 0;
  std::uint64_t run = 0;

  auto operator<=>(const batch_id&) const = default;
  std::string text() const;
};

template <class Fields>
auto inspect(Fields& f, batch_id& x) {
  return f(x.content, x.run);
}

/// Identity of a registered function. Equal for two programs that may share work.
struct function_key {
  std::string name;
  std::uint32_t version = 0;
  std::uint64_t signature = 0; ///< of its item and result types

  bool operator==(const function_key&) const = default;

  /// "render-1-0123456789abcdef": letters, digits, '-' and '_', as subjects of NATS want it.
  std::string text() const;
};

template <class Fields>
auto inspect(Fields& f, function_key& x) {
  return f(x.name, x.version, x.signature);
}

struct posted_item {
  std::uint64_t item = 0; ///< its index in the batch
  std::string bytes;
};

template <class Fields>
auto inspect(Fields& f, posted_item& x) {
  return f(x.item, x.bytes);
}

/// The value that all items of a batch share, as the engine keeps it: in parts of `part_bytes`, the
/// last one shorter. No bytes: they share nothing.
struct shared_input {
  content_hash hash = {};
  std::uint64_t bytes = 0;
  std::uint64_t part_bytes = 0;

  bool operator==(const shared_input&) const = default;
};

template <class Fields>
auto inspect(Fields& f, shared_input& x) {
  return f(x.hash, x.bytes, x.part_bytes);
}

/// A worker takes no more memory for one; nor does the codec.
inline constexpr std::uint64_t most_shared_bytes = decode_limits{}.memory;

/// Items that one worker does one after the other.
struct item_message {
  batch_id batch;
  function_key function;
  shared_input shared = {};
  std::uint32_t tries_left = 0;   ///< deliveries after which a worker gives up
  std::int64_t deadline_ms = 0;   ///< Unix time; 0: none
  std::uint64_t memory_limit = 0; ///< bytes; 0: the worker's own
  std::vector<posted_item> items;
};

template <class Fields>
auto inspect(Fields& f, item_message& x) {
  return f(x.batch, x.function, x.shared, x.tries_left, x.deadline_ms, x.memory_limit, x.items);
}

enum class outcome_kind : std::uint8_t {
  value,   ///< the function returned; `bytes` is what
  failed,  ///< it threw; `bytes` is why
  late,    ///< the deadline passed
  gave_up, ///< nobody who took it before has answered, so it was not tried again
};

struct outcome {
  std::uint64_t item = 0;
  outcome_kind kind = outcome_kind::value;
  double seconds = 0; ///< that it took the worker
  std::string bytes;
};

template <class Fields>
auto inspect(Fields& f, outcome& x) {
  return f(x.item, x.kind, x.seconds, x.bytes);
}

struct result_message {
  batch_id batch;
  std::string worker;
  std::uint32_t executors = 1; ///< of the worker
  std::uint32_t deliveries = 1;
  std::vector<outcome> outcomes;
};

template <class Fields>
auto inspect(Fields& f, result_message& x) {
  return f(x.batch, x.worker, x.executors, x.deliveries, x.outcomes);
}

enum class control_kind : std::uint8_t {
  cancel,     ///< the batch is over: end what runs of it
  quarantine, ///< the worker of that name takes no more work
  who,        ///< every worker says who it is
};

struct control_message {
  control_kind kind = control_kind::who;
  batch_id batch;
  std::string text; ///< the worker's name
  std::string reason;
};

template <class Fields>
auto inspect(Fields& f, control_message& x) {
  return f(x.kind, x.batch, x.text, x.reason);
}

/// A worker's answer to `who`.
struct worker_info {
  std::string name;
  std::vector<function_key> functions;
};

template <class Fields>
auto inspect(Fields& f, worker_info& x) {
  return f(x.name, x.functions);
}

/// One record of a batch's journal.
struct journal_entry {
  std::string worker;
  outcome what;
};

template <class Fields>
auto inspect(Fields& f, journal_entry& x) {
  return f(x.worker, x.what);
}

template <class T>
inline constexpr frame_kind kind_of = frame_kind::journal_record;
template <>
inline constexpr frame_kind kind_of<item_message> = frame_kind::items;
template <>
inline constexpr frame_kind kind_of<result_message> = frame_kind::results;
template <>
inline constexpr frame_kind kind_of<control_message> = frame_kind::control;
template <>
inline constexpr frame_kind kind_of<worker_info> = frame_kind::worker;

template <class Message>
std::string sealed(const Message& m) {
  std::string result;
  seal(result, kind_of<Message>, encode(m));
  return result;
}

/// @throws error malformed, other_version, too_large, damaged
template <class Message>
Message unsealed(std::string_view bytes) {
  return decode<Message>(open_whole_frame(kind_of<Message>, bytes));
}

} // namespace basal::cluster::detail
