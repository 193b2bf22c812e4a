#include <basal/cluster/serve.hpp>
#include <basal/posse/runtime.hpp>

#include <unistd.h>

#include "nats/nats_source.hpp"
#include "worker.hpp"

namespace basal::cluster {

namespace {

std::string default_name() {
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  return std::string{host} + '-' + std::to_string(getpid());
}

} // namespace

worker_report serve(const registry& functions, const serve_options& options) {
  const auto& lease = options.lease;
  if (functions.functions().empty())
    throw error{errc::bad_option, "a worker needs a registered function"};
  if (options.connection.is_local())
    throw error{errc::bad_option, "a worker needs the address of a server, nats://HOST:PORT"};
  if (lease < std::chrono::seconds{1} || lease > std::chrono::hours{1})
    throw error{errc::bad_option, "serve_options::lease is 1 s to 1 h"};
  const auto name = options.name.empty() ? default_name() : options.name;
  posse::runtime runtime{
    {.compute_executors = options.executors, .memory_limit = options.memory_limit}};
  worker w{name, functions, runtime};
  std::vector<detail::function_key> keys;
  for (const auto& f : functions.functions())
    keys.push_back(f.key);
  nats::connection connection{options.connection, name};
  nats::nats_source source{connection, keys, lease,
                           [&w](const detail::control_message& told) { return w.obey(told); }};
  if (options.on_ready)
    options.on_ready();
  return w.run(source, options.stop);
}

} // namespace basal::cluster
