/// A connection to NATS, and what both sides do with JetStream.
///
/// Three streams hold everything. `basal-items` is a work queue: a message goes when it is done.
/// `basal-results` keeps results until their coordinator has them in its journal, a week at most.
/// `basal-shared` keeps what items share, by its hash, a week at most. Subjects are
/// basal.items.FUNCTION.BATCH, basal.results.BATCH and basal.shared.HASH.PART; each function has
/// one durable consumer, which all its workers share, and each batch one. `basal.control` is plain
/// messages.
///
/// We write the requests for messages and the acknowledgements ourselves: they are a line of text
/// each, and so a lease is a subject to answer to, which outlives subscriptions and reconnects.
#pragma once

#include <basal/cluster/connection.hpp>
#include <basal/cluster/detail/message.hpp>
#include <basal/cluster/errors.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nats/nats.h>

namespace basal::cluster::nats {

/// From a failure that may pass to the next attempt.
inline constexpr std::chrono::milliseconds retry_interval{200};

template <auto Destroy>
struct destroyer {
  template <class T>
  void operator()(T* x) const noexcept {
    Destroy(x);
  }
};
template <class T, auto Destroy>
using owned = std::unique_ptr<T, destroyer<Destroy>>;

using message = owned<natsMsg, natsMsg_Destroy>;
using subscription = owned<natsSubscription, natsSubscription_Destroy>;

inline constexpr const char* items_stream = "basal-items";
inline constexpr const char* results_stream = "basal-results";
inline constexpr const char* shared_stream = "basal-shared";
inline constexpr const char* control_subject = "basal.control";

using clock = std::chrono::steady_clock;

/// How long a process waits for a server that is restarted, and for a cluster that elects a leader,
/// which takes about ten seconds.
inline constexpr std::chrono::seconds patience{30};

/// A message as it is put into a stream.
struct stored {
  std::string subject;
  std::string id; ///< the server drops a second message with the same one
  std::string_view bytes;
};

class connection {
public:
  /// Connects, and makes the streams. Waits for a cluster that elects a leader, for `patience` at
  /// most; not for a server that does not listen.
  /// @throws error no_server, refused, bad_option, engine_failed, too_few_servers
  connection(const connection_options& options, const std::string& name);
  ~connection();

  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Makes what is missing of the streams: the server's store may have gone. Waits for a cluster
  /// that elects a leader until then; the default: tries once.
  /// @throws error no_server, refused, engine_failed, too_few_servers
  void make_streams(clock::time_point until = {});

  /// Makes the durable consumer `name` of a stream, unless there is one. Waits as make_streams
  /// does.
  /// @returns its lease
  /// @throws error no_server, refused, engine_failed, too_few_servers
  std::chrono::nanoseconds make_consumer(const char* stream, const std::string& name,
                                         const std::string& filter, std::chrono::nanoseconds lease,
                                         clock::time_point until = {});

  void delete_consumer(const char* stream, const std::string& name);

  /// Returns when the server has stored all of them. One thread at a time.
  void store(std::span<const stored> messages);

  /// A plain message. `reply` may be null. Does not wait.
  void publish(const std::string& subject, const char* reply, std::string_view bytes);

  subscription subscribe(const std::string& subject);

  std::string new_inbox();

  /// How many messages of the stream have the subject; none: the server did not say.
  std::optional<std::uint64_t> count(const char* stream, const std::string& subject);

  /// Waits as make_streams does.
  void purge(const char* stream, const std::string& subject, clock::time_point until = {});

  /// The message of a stream whose subject this is.
  /// @throws error no_server, engine_failed
  std::string read(const char* stream, const std::string& subject);

  std::size_t max_message_bytes() const;

  /// Grows with each reconnect: what was asked of the server before is forgotten.
  std::uint64_t epoch() const noexcept {
    return epoch_.load(std::memory_order_relaxed);
  }

  natsConnection* get() const noexcept {
    return connection_;
  }

private:
  [[noreturn]] void fail(natsStatus status, const std::string& doing, jsErrCode code = {}) const;
  enum class stream_kind { work_queue, log, table };
  void make_stream(const char* name, const char* subject, stream_kind kind,
                   clock::time_point until);

  /// Attempts it until it succeeds, fails for good, or it is `until`.
  void until_done(const std::string& doing, clock::time_point until,
                  const std::function<natsStatus(jsErrCode&)>& attempt) const;

  static void reconnected(natsConnection* c, void* self);
  static void not_stored(jsCtx* js, jsPubAckErr* failure, void* self);

  const std::string address_;
  const std::int64_t replicas_; ///< 0: as many as the server is made for
  natsConnection* connection_ = nullptr;
  jsCtx* js_ = nullptr;

  /// Written by the client's thread, read by whoever waits for messages. Relaxed: a reader that
  /// misses it asks again a little later.
  std::atomic<std::uint64_t> epoch_{0};
  /// Messages that store() could not store. Written by the client's thread;
  /// js_PublishAsyncComplete, which waits for them under the client's mutex, orders it before the
  /// look in store(). Relaxed for that.
  std::atomic<std::uint64_t> not_stored_{0};
};

/// Messages of one consumer, as many as were asked for.
class pull {
public:
  pull(connection& c, const char* stream, const std::string& consumer);

  /// Asks for `most` messages, less those that were asked for and have not come.
  /// @throws error engine_failed, if the consumer has to be looked after
  void ask(std::size_t most);

  /// The next message, or null after `wait`. Without a wait: one that is here already.
  message next(std::chrono::milliseconds wait);

  /// Ends a next() that waits. Any thread.
  void wake() const;

private:
  static constexpr std::chrono::seconds request_lasts{5};

  connection& connection_;
  const std::string subject_;
  const std::string inbox_;
  const subscription subscription_;
  std::size_t credit_ = 0; ///< asked for and not come
  std::uint64_t epoch_;
  std::chrono::steady_clock::time_point asked_;
};

/// Where the parts of what items share are: subjects are this one, '.', and the part's number.
inline std::string shared_subject(const detail::shared_input& what) {
  return "basal.shared." + what.hash.text() + '-' + std::to_string(what.part_bytes);
}

/// The bytes of a message.
inline std::string_view bytes_of(const message& m) {
  return {natsMsg_GetData(m.get()), static_cast<std::size_t>(natsMsg_GetDataLength(m.get()))};
}

} // namespace basal::cluster::nats
