#include <basal/cluster/coordinator.hpp>
#include <basal/cluster/journal.hpp>
#include <basal/posse/runtime.hpp>

#include <optional>
#include <random>
#include <thread>

#include "batch.hpp"
#include "local_queue.hpp"
#include "nats/nats_queue.hpp"
#include "worker.hpp"

namespace basal::cluster {

namespace {

// In one process a lease ends only when the process does.
constexpr std::chrono::hours local_lease{1};

void expect(bool holds, const char* sentence) {
  if (!holds)
    throw error{errc::bad_option, sentence};
}

void validate(const map_options& options) {
  expect(options.tries >= 1 && options.tries <= 100, "map_options::tries is 1 to 100");
  expect(options.window >= 1 && options.window <= 10'000, "map_options::window is 1 to 10000");
  expect(options.patience.count() > 0, "map_options::patience is more than 0");
}

journal_identity identity_of(const detail::batch_request& request) {
  const auto& key = request.function.key;
  auto content = detail::hash_of(request.shared);
  for (std::uint64_t i = 0; i < request.items; ++i)
    content = detail::hash_of(request.item(i), content.low ^ content.high);
  return {.function = key.name,
          .version = key.version,
          .signature = key.signature,
          .items = request.items,
          .content = content};
}

std::uint64_t random_number() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

/// A worker for one function in this process, on a thread of its own.
class local_worker {
public:
  local_worker(const detail::registered& function, posse::runtime& runtime, local_queue& queue)
    : worker_("this process", functions_.add(function), runtime) {
    queue.add_worker([this](const detail::control_message& told) { return worker_.obey(told); });
    thread_ = std::jthread{[this, &queue](std::stop_token stop) { worker_.run(queue, stop); }};
  }

private:
  registry functions_;
  worker worker_;
  std::jthread thread_;
};

/// Takes back what nobody waits for any more, however the batch ends.
class withdrawal {
public:
  withdrawal(detail::item_queue& queue, detail::batch_id id) : queue_(queue), id_(id) {
  }
  ~withdrawal() {
    try {
      queue_.withdraw();
      queue_.tell({.kind = detail::control_kind::cancel, .batch = id_, .text = {}, .reason = {}});
    } catch (const error&) {
      // Without a server nobody is told; what comes then comes in vain.
    }
  }
  withdrawal(const withdrawal&) = delete;
  withdrawal& operator=(const withdrawal&) = delete;

private:
  detail::item_queue& queue_;
  const detail::batch_id id_;
};

} // namespace

struct coordinator::state {
  explicit state(coordinator_options o) : options(std::move(o)) {
  }

  const coordinator_options options;
  std::optional<posse::runtime> runtime;      ///< of local batches
  std::optional<nats::connection> connection; ///< of the others
};

coordinator::coordinator(coordinator_options options)
  : state_(std::make_unique<state>(std::move(options))) {
  auto& s = *state_;
  if (s.options.connection.is_local())
    s.runtime.emplace(posse::runtime_config{.compute_executors = s.options.executors});
  else
    s.connection.emplace(s.options.connection, "coordinator");
}

coordinator::~coordinator() = default;

manifest coordinator::run(const detail::batch_request& request) {
  validate(request.options);
  if (request.shared.size() > detail::most_shared_bytes)
    throw error{errc::too_large, "what the items share has " + std::to_string(request.shared.size())
                                   + " bytes; a worker takes "
                                   + std::to_string(detail::most_shared_bytes)
                                   + ". Share less, or a path to a file that all workers read"};
  std::vector<detail::journal_entry> entries;
  std::optional<journal> kept;
  detail::batch_id id{random_number(), random_number()};
  if (!request.options.journal.empty()) {
    const auto identity = identity_of(request);
    kept.emplace(request.options.journal, identity, [&](std::string_view record) {
      entries.push_back(decode<detail::journal_entry>(record));
    });
    id = {identity.content.low ^ identity.signature, kept->run()};
  }
  const auto run_on = [&](detail::item_queue& queue, bool checks) {
    const withdrawal at_end{queue, id};
    batch b{request, queue, id, checks};
    for (const auto& entry : std::exchange(entries, {}))
      b.resume(entry);
    return b.run(kept ? &*kept : nullptr);
  };
  if (state_->connection) {
    nats::nats_queue queue{*state_->connection, request.function.key, id};
    return run_on(queue, true);
  }
  local_queue queue{local_lease};
  const local_worker worker{request.function, *state_->runtime, queue};
  return run_on(queue, false);
}

} // namespace basal::cluster
