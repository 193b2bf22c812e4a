#include "nats_source.hpp"

#include <basal/executors/report.hpp>

#include <chrono>
#include <thread>

namespace basal::cluster::nats {

namespace {

using std::chrono::milliseconds;

// How long a worker waits on one function before it looks after the next one; with one function it
// need not look anywhere else.
constexpr milliseconds alone_wait{1000};
constexpr milliseconds turn_wait{50};

constinit executors::report_kind outages{executors::report_level::warning, "basal.cluster",
                                         "fetches that failed"};

/// How often the message was handed out: the fourth part of "$JS.ACK.STREAM.CONSUMER.DELIVERED...",
/// or, where the server has a domain and an account hash in front, the sixth.
std::uint32_t deliveries_of(std::string_view reply) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto dot = reply.find('.');
    parts.push_back(reply.substr(0, dot));
    if (dot == reply.npos)
      break;
    reply.remove_prefix(dot + 1);
  }
  const auto index = parts.size() >= 11 ? 6U : 4U;
  if (index >= parts.size())
    return 1;
  return static_cast<std::uint32_t>(std::strtoul(std::string{parts[index]}.c_str(), nullptr, 10));
}

} // namespace

nats_source::nats_source(connection& c, const std::vector<detail::function_key>& functions,
                         milliseconds lease, control_handler handler)
  : connection_(c),
    functions_(functions),
    wanted_lease_(lease),
    lease_(lease),
    handler_(std::move(handler)) {
  make_consumers(clock::now() + patience);
  for (const auto& f : functions_)
    pulls_.push_back(std::make_unique<pull>(c, items_stream, f.text()));
  // Last, since nothing may throw once there is somebody to be called.
  natsSubscription* raw = nullptr;
  if (natsConnection_Subscribe(&raw, c.get(), control_subject, told, this) != NATS_OK
      || natsSubscription_SetOnCompleteCB(raw, all_told, this) != NATS_OK)
    throw error{errc::engine_failed, "NATS: no subscription to what coordinators say"};
  control_.reset(raw);
}

nats_source::~nats_source() {
  natsSubscription_Unsubscribe(control_.get());
  all_told_.get_future().wait();
}

void nats_source::all_told(void* self) {
  static_cast<nats_source*>(self)->all_told_.set_value();
}

void nats_source::make_consumers(clock::time_point until) {
  connection_.make_streams(until);
  for (const auto& f : functions_)
    lease_ = std::chrono::duration_cast<milliseconds>(connection_.make_consumer(
      items_stream, f.text(), "basal.items." + f.text() + ".>", wanted_lease_, until));
}

void nats_source::told(natsConnection* c, natsSubscription*, natsMsg* m, void* self) {
  const message owner{m};
  try {
    auto& source = *static_cast<nats_source*>(self);
    const auto answer = source.handler_(detail::unsealed<detail::control_message>(bytes_of(owner)));
    if (const char* reply = natsMsg_GetReply(m); answer && reply != nullptr) {
      const auto bytes = detail::sealed(*answer);
      natsConnection_Publish(c, reply, bytes.data(), static_cast<int>(bytes.size()));
    }
  } catch (const error&) {
    // Nobody that we understand.
  }
}

std::vector<leased_work> nats_source::fetch(std::size_t most, std::stop_token stop) {
  const std::stop_callback wake_up{stop, [this] {
                                     for (const auto& p : pulls_)
                                       p->wake();
                                   }};
  std::vector<leased_work> result;
  while (!stop.stop_requested() && result.empty()) {
    try {
      auto& p = *pulls_[turn_];
      p.ask(most);
      auto wait = pulls_.size() == 1 ? alone_wait : turn_wait;
      while (result.size() < most) {
        const auto m = p.next(wait);
        if (m == nullptr)
          break;
        const std::string token = natsMsg_GetReply(m.get());
        result.push_back({token, deliveries_of(token), std::string{bytes_of(m)}});
        wait = milliseconds{0}; // the first one should not wait for others
      }
      if (result.empty())
        turn_ = (turn_ + 1) % pulls_.size();
    } catch (const error& e) {
      outages(e.what());
      std::this_thread::sleep_for(retry_interval);
      try {
        make_consumers();
      } catch (const error&) {
        // Not back yet.
      }
    }
  }
  return result;
}

void nats_source::keep_alive(const std::string& token) {
  natsConnection_PublishString(connection_.get(), token.c_str(), "+WPI");
}

void nats_source::complete(std::span<const completed_work> work) {
  std::vector<stored> results;
  for (const auto& w : work) {
    if (!w.result || w.result->empty())
      continue;
    const auto batch = decode<detail::batch_id>(
      std::string_view{*w.result}.substr(detail::frame_header_bytes, 16));
    // Another delivery of the same item has another token: both results arrive.
    results.push_back({"basal.results." + batch.text(), w.token, *w.result});
  }
  if (!results.empty())
    connection_.store(results);
  for (const auto& w : work)
    connection_.publish(w.token, nullptr, w.result ? "+ACK" : "-NAK");
}

std::string nats_source::shared(const detail::shared_input& what) {
  const auto subject = shared_subject(what);
  std::string result;
  for (std::uint64_t i = 0; result.size() < what.bytes; ++i) {
    const auto part = connection_.read(shared_stream, subject + '.' + std::to_string(i));
    if (part.empty() || part.size() > what.bytes - result.size())
      throw error{errc::damaged, "part " + std::to_string(i) + " of " + subject + " has "
                                   + std::to_string(part.size()) + " bytes"};
    result += part;
  }
  if (detail::hash_of(result) != what.hash)
    throw error{errc::damaged, subject + " has other contents than its hash"};
  return result;
}

} // namespace basal::cluster::nats
