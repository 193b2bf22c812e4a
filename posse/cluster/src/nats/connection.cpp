#include "connection.hpp"

#include "address.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

namespace basal::cluster::nats {

namespace {

constexpr std::int64_t request_wait_ms = 5000;
constexpr std::int64_t store_wait_ms = 2000; // a group takes some milliseconds
constexpr std::int64_t reconnect_wait_ms = 200;
constexpr std::int64_t ping_interval_ms = 5000;
constexpr std::int64_t look_wait_ms = 1000;    // a cluster without a leader does not answer
constexpr std::int64_t release_wait_ms = 1000; // takes less than one, unless a connection is leaked
constexpr std::chrono::milliseconds election_interval{50};
constexpr std::int64_t replicas_of_a_cluster = 3;
constexpr std::int64_t results_last_ns = std::int64_t{7} * 24 * 3600 * 1'000'000'000;

// Of TLS 1.2 the client may only offer ciphers with a shared key, and it has none: so a server
// that does not speak TLS 1.3 has nothing to choose. (The library has no option for versions.)
constexpr const char* old_ciphers = "PSK";

/// How many messages of a request that has ended never came. None: the server does not say.
std::optional<std::size_t> unanswered_by(natsMsg* status) {
  const char* count = nullptr;
  if (natsMsgHeader_Get(status, "Nats-Pending-Messages", &count) != NATS_OK)
    return std::nullopt;
  return std::strtoull(count, nullptr, 10);
}

/// Whether the same request may succeed a little later. A cluster that elects a leader does not
/// answer, or says that it is not available, and its servers may not know all others yet. A process
/// that makes the same stream at the same time has its subjects, and not yet its name.
bool may_pass(natsStatus status, jsErrCode code) {
  return status == NATS_TIMEOUT || status == NATS_CONNECTION_DISCONNECTED
         || code == JSClusterNotAvailErr || code == JSClusterNotLeaderErr
         || code == JSClusterNoPeersErr || code == JSClusterIncompleteErr
         || code == JSStreamOfflineErr || code == JSConsumerOfflineErr
         || code == JSStreamSubjectOverlapErr;
}

/// Keeps OpenSSL until the client's threads have let go of it: they release what a connection had a
/// little after it was destroyed, and a program that returned from main meanwhile crashed. Handlers
/// of exit() run in reverse order, and the client has begun with OpenSSL before this is called.
void outlast_client() {
  [[maybe_unused]] static const int registered
    = std::atexit([] { nats_CloseAndWait(release_wait_ms); });
}

bool starts_with_ack(const char* reply) {
  return reply != nullptr && std::strncmp(reply, "$JS.ACK.", 8) == 0;
}

} // namespace

void connection::fail(natsStatus status, const std::string& doing, jsErrCode code) const {
  natsStatus last = NATS_OK;
  const char* said = nats_GetLastError(&last);
  const bool fits = said != nullptr && *said != '\0' && last == status; // not of an earlier failure
  const auto sentence = "NATS at " + address_ + ": " + doing + ": " + natsStatus_GetText(status)
                        + (fits ? std::string{" ("} + said + ")" : "");
  if (code == JSClusterNotAvailErr || code == JSClusterNotLeaderErr || code == JSStreamOfflineErr
      || code == JSConsumerOfflineErr)
    throw error{errc::too_few_servers,
                sentence
                  + ". More than half of the cluster's servers have to run and to reach each "
                    "other: start those that are missing, and then the same again"};
  if (code == JSNotEnabledErr || code == JSNotEnabledForAccountErr || status == NATS_NO_RESPONDERS)
    throw error{errc::no_server, sentence + ". Start nats-server with -js"};
  switch (status) {
  case NATS_NO_SERVER:
  case NATS_TIMEOUT:
  case NATS_CONNECTION_CLOSED:
  case NATS_CONNECTION_DISCONNECTED:
    throw error{errc::no_server,
                sentence
                  + ". Is a nats-server with JetStream there, and of a cluster more than half?"};
  case NATS_INVALID_ARG:
    throw error{errc::bad_option, sentence + ". Write nats://HOST:PORT"};
  case NATS_SECURE_CONNECTION_REQUIRED:
    throw error{errc::refused, sentence
                                 + ". The server wants TLS: give all three of ca_file, "
                                   "certificate_file and key_file"};
  case NATS_SSL_ERROR:
  case NATS_SECURE_CONNECTION_WANTED:
    throw error{errc::refused, sentence
                                 + ". Start the server with --tls --tlsverify, and with "
                                   "certificates that both sides accept"};
  case NATS_CONNECTION_AUTH_FAILED:
  case NATS_NOT_PERMITTED:
    throw error{errc::refused,
                sentence + ". The server's configuration says who may connect and may do this"};
  default:
    throw error{errc::engine_failed, sentence + ". The log of nats-server says more"};
  }
}

connection::connection(const connection_options& options, const std::string& name)
  : address_(options.address), replicas_(static_cast<std::int64_t>(options.replicas)) {
  const auto servers = parse_address(options);
  natsOptions* raw = nullptr;
  if (const auto s = natsOptions_Create(&raw); s != NATS_OK)
    fail(s, "options");
  const owned<natsOptions, natsOptions_Destroy> o{raw};
  const auto set = [this](natsStatus s, const char* what) {
    if (s != NATS_OK)
      fail(s, what);
  };
  const auto load = [](natsStatus s, const std::string& file) {
    if (s != NATS_OK)
      throw error{errc::refused, file + " cannot be used for TLS: " + natsStatus_GetText(s)
                                   + ". Name PEM files that this process may read, and the key "
                                     "that belongs to the certificate"};
  };
  std::vector<const char*> urls;
  for (const auto& url : servers.urls)
    urls.push_back(url.c_str());
  set(natsOptions_SetServers(raw, urls.data(), static_cast<int>(urls.size())), "the address");
  set(natsOptions_SetName(raw, name.c_str()), "the name");
  set(natsOptions_SetMaxReconnect(raw, -1), "reconnects");
  set(natsOptions_SetReconnectWait(raw, reconnect_wait_ms), "reconnects");
  set(natsOptions_SetPingInterval(raw, ping_interval_ms), "pings");
  // Else a thread of the client's collects for a millisecond what there is to send, each time.
  set(natsOptions_SetSendAsap(raw, true), "sending at once");
  // A server could name others, where nobody has looked whether they need TLS.
  set(natsOptions_SetIgnoreDiscoveredServers(raw, true), "discovered servers");
  set(natsOptions_SetReconnectedCB(raw, reconnected, this), "reconnects");
  if (servers.needs_tls) {
    set(natsOptions_SetSecure(raw, true), "TLS");
    set(natsOptions_SetCiphers(raw, old_ciphers), "TLS 1.3");
    load(natsOptions_LoadCATrustedCertificates(raw, options.ca_file.c_str()), options.ca_file);
    load(natsOptions_LoadCertificatesChain(raw, options.certificate_file.c_str(),
                                           options.key_file.c_str()),
         options.certificate_file + " with " + options.key_file);
    outlast_client();
  }
  if (const auto s = natsConnection_Connect(&connection_, raw); s != NATS_OK) {
    // By TLS 1.3 the handshake has succeeded for us when the server refuses our certificate: it
    // just hangs up.
    if (servers.needs_tls && s != NATS_NO_SERVER)
      throw error{errc::refused, "NATS at " + address_
                                   + ": no TLS connection: " + natsStatus_GetText(s)
                                   + ". One side does not accept the other's certificate, or the "
                                     "server does not speak TLS 1.3"};
    fail(s, "no connection");
  }
  jsOptions js;
  jsOptions_Init(&js);
  js.Wait = request_wait_ms;
  js.PublishAsync.ErrHandler = not_stored;
  js.PublishAsync.ErrHandlerClosure = this;
  try {
    if (const auto s = natsConnection_JetStream(&js_, connection_, &js); s != NATS_OK)
      fail(s, "no JetStream");
    make_streams(clock::now() + patience);
  } catch (...) {
    jsCtx_Destroy(js_);
    natsConnection_Destroy(connection_);
    throw;
  }
}

connection::~connection() {
  jsCtx_Destroy(js_);
  natsConnection_Destroy(connection_);
}

void connection::reconnected(natsConnection*, void* self) {
  static_cast<connection*>(self)->epoch_.fetch_add(1, std::memory_order_relaxed);
}

void connection::not_stored(jsCtx*, jsPubAckErr*, void* self) {
  static_cast<connection*>(self)->not_stored_.fetch_add(1, std::memory_order_relaxed);
}

void connection::until_done(const std::string& doing, clock::time_point until,
                            const std::function<natsStatus(jsErrCode&)>& attempt) const {
  const auto begun = clock::now();
  for (;;) {
    jsErrCode code{};
    const auto s = attempt(code);
    if (s == NATS_OK)
      return;
    const auto now = clock::now();
    if (!may_pass(s, code) || now >= until) {
      const auto waited = std::chrono::duration_cast<std::chrono::seconds>(now - begun).count();
      fail(s, waited > 0 ? doing + " after " + std::to_string(waited) + " s" : doing, code);
    }
    std::this_thread::sleep_for(election_interval);
  }
}

void connection::make_streams(clock::time_point until) {
  make_stream(items_stream, "basal.items.>", stream_kind::work_queue, until);
  make_stream(results_stream, "basal.results.>", stream_kind::log, until);
  make_stream(shared_stream, "basal.shared.>", stream_kind::table, until);
}

void connection::make_stream(const char* name, const char* subject, stream_kind kind,
                             clock::time_point until) {
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = name;
  config.Subjects = &subject;
  config.SubjectsLen = 1;
  config.Storage = js_FileStorage;
  if (kind == stream_kind::work_queue)
    config.Retention = js_WorkQueuePolicy;
  else
    config.MaxAge = results_last_ns;
  if (kind == stream_kind::table)
    config.MaxMsgsPerSubject = 1;
  config.Replicas = replicas_ == 0 ? replicas_of_a_cluster : replicas_;
  jsOptions look;
  jsOptions_Init(&look);
  look.Wait = look_wait_ms;
  until_done(std::string{"no stream "} + name, until, [&](jsErrCode& code) {
    jsStreamInfo* info = nullptr;
    auto s = js_GetStreamInfo(&info, js_, name, &look, &code);
    jsStreamInfo_Destroy(info);
    // Asked first: to make one is a vote of the whole cluster, even if it is there.
    if (code == JSStreamNotFoundErr)
      s = js_AddStream(nullptr, js_, &config, nullptr, &code);
    if (code == JSStreamReplicasNotSupportedErr && replicas_ == 0) {
      config.Replicas = 1; // a server of its own
      s = js_AddStream(nullptr, js_, &config, nullptr, &code);
    }
    if (code == JSStreamNameExistErr)
      return NATS_OK;
    if (code == JSStreamReplicasNotSupportedErr
        || (code == JSClusterNoPeersErr && clock::now() >= until))
      throw error{
        errc::too_few_servers,
        "NATS at " + address_ + " is not part of a cluster with " + std::to_string(config.Replicas)
          + " servers that run JetStream, for as many copies of the stream " + name
          + ". Start what is missing, or ask for one copy: connection_options::replicas = 1, or "
            "--replicas 1 of a sample"};
    return s;
  });
}

std::chrono::nanoseconds connection::make_consumer(const char* stream, const std::string& name,
                                                   const std::string& filter,
                                                   std::chrono::nanoseconds lease,
                                                   clock::time_point until) {
  jsConsumerConfig config;
  jsConsumerConfig_Init(&config);
  config.Durable = name.c_str();
  config.FilterSubject = filter.c_str();
  config.AckPolicy = js_AckExplicit;
  config.AckWait = lease.count();
  config.MaxDeliver = -1;
  config.MaxAckPending = 20'000; // more than any number of workers has in hand
  jsOptions look;
  jsOptions_Init(&look);
  look.Wait = look_wait_ms;
  jsConsumerInfo* raw = nullptr;
  until_done("no consumer " + name, until, [&](jsErrCode& code) {
    auto s = js_GetConsumerInfo(&raw, js_, stream, name.c_str(), &look, &code);
    if (code != JSConsumerNotFoundErr)
      return s;
    s = js_AddConsumer(&raw, js_, stream, &config, nullptr, &code);
    if (s == NATS_OK)
      return s;
    jsErrCode second{}; // somebody may have been quicker
    return js_GetConsumerInfo(&raw, js_, stream, name.c_str(), &look, &second) == NATS_OK ? NATS_OK
                                                                                          : s;
  });
  const owned<jsConsumerInfo, jsConsumerInfo_Destroy> info{raw};
  jsStreamInfo* raw_stream = nullptr;
  if (info->Delivered.Stream > 0
      && js_GetStreamInfo(&raw_stream, js_, stream, &look, nullptr) == NATS_OK) {
    const owned<jsStreamInfo, jsStreamInfo_Destroy> found{raw_stream};
    // A server that was killed while a stream was empty counts its messages from 1 again, and a
    // consumer that is ahead would wait for thousands of them.
    if (info->Delivered.Stream > found->State.LastSeq) {
      delete_consumer(stream, name);
      return make_consumer(stream, name, filter, lease, until);
    }
  }
  return std::chrono::nanoseconds{info->Config->AckWait};
}

void connection::delete_consumer(const char* stream, const std::string& name) {
  js_DeleteConsumer(js_, stream, name.c_str(), nullptr, nullptr);
}

void connection::store(std::span<const stored> messages) {
  not_stored_.store(0, std::memory_order_relaxed);
  for (const auto& m : messages) {
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MsgId = m.id.c_str();
    const auto s = js_PublishAsync(js_, m.subject.c_str(), m.bytes.data(),
                                   static_cast<int>(m.bytes.size()), &options);
    if (s != NATS_OK)
      fail(s, "a message was not stored");
  }
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MaxWait = store_wait_ms;
  if (const auto s = js_PublishAsyncComplete(js_, &options); s != NATS_OK) {
    // A server that died answers no more: unless they are taken out, all later calls wait for them.
    natsMsgList unanswered{};
    if (js_PublishAsyncGetPendingList(&unanswered, js_) == NATS_OK)
      natsMsgList_Destroy(&unanswered);
    fail(s, "messages were not stored in time");
  }
  if (const auto n = not_stored_.load(std::memory_order_relaxed); n > 0)
    throw error{errc::engine_failed,
                "NATS at " + address_ + " did not store " + std::to_string(n)
                  + " messages. The log of nats-server says why: no space, or a limit of its own"};
}

void connection::publish(const std::string& subject, const char* reply, std::string_view bytes) {
  const auto size = static_cast<int>(bytes.size());
  const auto s
    = reply == nullptr
        ? natsConnection_Publish(connection_, subject.c_str(), bytes.data(), size)
        : natsConnection_PublishRequest(connection_, subject.c_str(), reply, bytes.data(), size);
  if (s != NATS_OK)
    fail(s, "a message was not sent");
}

subscription connection::subscribe(const std::string& subject) {
  natsSubscription* raw = nullptr;
  if (const auto s = natsConnection_SubscribeSync(&raw, connection_, subject.c_str()); s != NATS_OK)
    fail(s, "no subscription");
  return subscription{raw};
}

std::string connection::new_inbox() {
  natsInbox* raw = nullptr;
  if (const auto s = natsInbox_Create(&raw); s != NATS_OK)
    fail(s, "no inbox");
  std::string result{raw};
  natsInbox_Destroy(raw);
  return result;
}

std::optional<std::uint64_t> connection::count(const char* stream, const std::string& subject) {
  jsOptions options;
  jsOptions_Init(&options);
  options.Stream.Info.SubjectsFilter = subject.c_str();
  jsStreamInfo* raw = nullptr;
  jsErrCode code{};
  const auto s = js_GetStreamInfo(&raw, js_, stream, &options, &code);
  const owned<jsStreamInfo, jsStreamInfo_Destroy> info{raw};
  if (code == JSStreamNotFoundErr) {
    make_streams();
    return 0;
  }
  if (s != NATS_OK)
    return std::nullopt;
  std::uint64_t result = 0;
  if (const auto* subjects = info->State.Subjects)
    for (int i = 0; i < subjects->Count; ++i)
      result += subjects->List[i].Msgs;
  return result;
}

void connection::purge(const char* stream, const std::string& subject, clock::time_point until) {
  jsOptions options;
  jsOptions_Init(&options);
  options.Stream.Purge.Subject = subject.c_str();
  until_done("the batch was not taken back", until, [&](jsErrCode& code) {
    const auto s = js_PurgeStream(js_, stream, &options, &code);
    return code == JSStreamNotFoundErr ? NATS_OK : s;
  });
}

std::string connection::read(const char* stream, const std::string& subject) {
  natsMsg* raw = nullptr;
  jsErrCode code{};
  const auto s = js_GetLastMsg(&raw, js_, stream, subject.c_str(), nullptr, &code);
  const message m{raw};
  if (s != NATS_OK)
    fail(s, "no message " + subject);
  return std::string{bytes_of(m)};
}

std::size_t connection::max_message_bytes() const {
  return static_cast<std::size_t>(natsConnection_GetMaxPayload(connection_));
}

pull::pull(connection& c, const char* stream, const std::string& consumer)
  : connection_(c),
    subject_(std::string{"$JS.API.CONSUMER.MSG.NEXT."} + stream + '.' + consumer),
    inbox_(c.new_inbox()),
    subscription_(c.subscribe(inbox_)),
    epoch_(c.epoch()) {
}

void pull::ask(std::size_t most) {
  const auto now = std::chrono::steady_clock::now();
  // A server ends each request that it knows. One that was restarted knows of none; nor does one
  // whose consumer has gone, and it does not say so.
  const bool unanswered = credit_ > 0 && now - asked_ > request_lasts + std::chrono::seconds{1};
  if (unanswered || connection_.epoch() != epoch_) {
    credit_ = 0;
    epoch_ = connection_.epoch();
    throw error{errc::engine_failed, "NATS may have lost the consumer of " + subject_};
  }
  if (most <= credit_)
    return;
  const auto lasts = std::chrono::nanoseconds{request_lasts}.count();
  connection_.publish(subject_, inbox_.c_str(),
                      "{\"batch\":" + std::to_string(most - credit_)
                        + ",\"expires\":" + std::to_string(lasts) + "}");
  credit_ = most;
  asked_ = now;
}

message pull::next(std::chrono::milliseconds wait) {
  if (wait.count() <= 0) {
    std::uint64_t here = 0;
    if (natsSubscription_QueuedMsgs(subscription_.get(), &here) != NATS_OK || here == 0)
      return nullptr;
    wait = std::chrono::milliseconds{1};
  }
  natsMsg* raw = nullptr;
  const auto s = natsSubscription_NextMsg(&raw, subscription_.get(), wait.count());
  message result{raw};
  if (s == NATS_NO_RESPONDERS) { // the consumer has gone, and maybe its stream
    credit_ = 0;
    throw error{errc::engine_failed, "NATS has no consumer for " + subject_};
  }
  if (s != NATS_OK)
    return nullptr;
  if (starts_with_ack(natsMsg_GetReply(raw))) {
    credit_ -= credit_ > 0 ? 1 : 0;
    return result;
  }
  const char* status = nullptr;
  if (natsMsgHeader_Get(raw, "Status", &status) == NATS_OK)
    credit_ -= std::min(credit_, unanswered_by(raw).value_or(credit_));
  return nullptr;
}

void pull::wake() const {
  natsConnection_Publish(connection_.get(), inbox_.c_str(), nullptr, 0);
}

} // namespace basal::cluster::nats
