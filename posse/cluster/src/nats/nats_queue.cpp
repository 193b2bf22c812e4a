#include "nats_queue.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace basal::cluster::nats {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t results_ahead = 512;

// A part goes through the server's memory, and its neighbours' messages wait behind it.
constexpr std::uint64_t most_part_bytes = 512 << 10;
constexpr std::chrono::seconds result_lease{30};

// Workers that are there answer within a round trip; those that are frozen do not.
constexpr milliseconds roll_call{500};

} // namespace

nats_queue::nats_queue(connection& c, const detail::function_key& function, detail::batch_id id)
  : connection_(c),
    items_subject_("basal.items." + function.text() + '.' + id.text()),
    results_subject_("basal.results." + id.text()),
    consumer_("batch-" + id.text()),
    results_(c, results_stream, consumer_),
    run_(c.new_inbox()) {
  const auto until = clock::now() + patience;
  make_consumer(until);
  c.purge(items_stream, items_subject_, until);
}

void nats_queue::make_consumer(clock::time_point until) {
  connection_.make_streams(until);
  connection_.make_consumer(results_stream, consumer_, results_subject_, result_lease, until);
  store_shared();
}

/// Tries until the server stores: it may be restarted, and a cluster may elect a leader.
template <class Attempt>
void nats_queue::until_stored(Attempt attempt) {
  const auto until = clock::now() + patience;
  for (;;) {
    try {
      attempt();
      return;
    } catch (const error&) {
      if (clock::now() > until)
        throw;
    }
    std::this_thread::sleep_for(retry_interval);
    try {
      make_consumer();
    } catch (const error&) {
      // Not back yet; a second attempt does no harm, since messages have ids.
    }
  }
}

detail::shared_input nats_queue::share(std::string_view bytes) {
  shared_bytes_ = bytes;
  shared_ = {.hash = detail::hash_of(bytes),
             .bytes = bytes.size(),
             .part_bytes = std::min<std::uint64_t>(most_part_bytes, max_message_bytes() / 2)};
  until_stored([this] { store_shared(); });
  return shared_;
}

/// Stores the parts that all items share, unless the engine has them.
void nats_queue::store_shared() {
  if (shared_bytes_.empty())
    return;
  const auto subject = shared_subject(shared_);
  const auto parts = (shared_.bytes + shared_.part_bytes - 1) / shared_.part_bytes;
  if (connection_.count(shared_stream, subject + ".>") == parts)
    return;
  for (std::uint64_t i = 0; i < parts; ++i) {
    const auto begin = static_cast<std::size_t>(i * shared_.part_bytes);
    const auto name = subject + '.' + std::to_string(i);
    // Its id is this run's: after a loss the server may remember the ids of what it has lost.
    const stored part{name, run_ + '.' + name + '.' + std::to_string(++posted_),
                      shared_bytes_.substr(begin, static_cast<std::size_t>(shared_.part_bytes))};
    connection_.store({&part, 1});
  }
}

void nats_queue::post(std::span<const std::string> messages) {
  std::vector<stored> group;
  for (const auto& m : messages)
    group.push_back({items_subject_, run_ + '.' + std::to_string(++posted_), m});
  until_stored([&] { connection_.store(group); });
}

std::vector<detail::arrival> nats_queue::receive(std::size_t most, milliseconds wait) {
  std::vector<detail::arrival> result;
  try {
    results_.ask(results_ahead);
    while (result.size() < most) {
      const auto m = results_.next(wait);
      if (m == nullptr)
        break;
      result.push_back({natsMsg_GetReply(m.get()), std::string{bytes_of(m)}});
      wait = milliseconds{0}; // what else is here
    }
  } catch (const error&) {
    std::this_thread::sleep_for(retry_interval);
    try {
      make_consumer();
    } catch (const error&) {
      // Not back yet.
    }
  }
  return result;
}

void nats_queue::settle(std::span<const detail::arrival> results) {
  for (const auto& r : results)
    natsConnection_PublishString(connection_.get(), r.token.c_str(), "+ACK");
}

std::size_t nats_queue::outstanding() {
  try {
    return static_cast<std::size_t>(connection_.count(items_stream, items_subject_).value_or(1));
  } catch (const error&) {
    return 1; // nobody knows
  }
}

void nats_queue::tell(const detail::control_message& what) {
  connection_.publish(control_subject, nullptr, detail::sealed(what));
}

std::vector<detail::worker_info> nats_queue::workers() {
  std::vector<detail::worker_info> result;
  const auto inbox = connection_.new_inbox();
  const auto answers = connection_.subscribe(inbox);
  connection_.publish(control_subject, inbox.c_str(),
                      detail::sealed(detail::control_message{
                        .kind = detail::control_kind::who, .batch = {}, .text = {}, .reason = {}}));
  const auto until = std::chrono::steady_clock::now() + roll_call;
  for (;;) {
    const auto left
      = std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
    natsMsg* raw = nullptr;
    if (left.count() <= 0 || natsSubscription_NextMsg(&raw, answers.get(), left.count()) != NATS_OK)
      return result;
    const message m{raw};
    try {
      result.push_back(detail::unsealed<detail::worker_info>(bytes_of(m)));
    } catch (const error&) {
      // No worker of ours.
    }
  }
}

void nats_queue::withdraw() {
  connection_.purge(items_stream, items_subject_);
  connection_.purge(results_stream, results_subject_);
  connection_.delete_consumer(results_stream, consumer_);
}

std::size_t nats_queue::max_message_bytes() const {
  return connection_.max_message_bytes();
}

} // namespace basal::cluster::nats
