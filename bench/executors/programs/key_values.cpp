// Key-value server: 40 clients put and get values by strings at one server, each with one request
// at a time. Every twenty-fifth get asks for a key that there is not, and is answered by an error.
//
// Size: requests of each client.

#include "program.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/result.hpp>
#include <caf/sec.hpp>
#include <caf/stateful_actor.hpp>

#include <string>
#include <unordered_map>

namespace basal::bench {

namespace {

using get = caf::atom_constant<caf::atom("get")>;
using put = caf::atom_constant<caf::atom("put")>;

constexpr std::int64_t num_clients = 40;
constexpr std::int64_t keys_of_client = 16;
constexpr std::int64_t for_an_error = 1'000'000;

/// Requests are a put of a value and a get of it, in turn.
bool is_for_missing_key(std::int64_t request) {
  return request % 50 == 49;
}

std::int64_t value_of(std::int64_t client, std::int64_t request) {
  return client * 1000 + request / 2;
}

struct shelf {
  std::unordered_map<std::string, std::int64_t> values;
};

caf::behavior server(caf::stateful_actor<shelf>* self) {
  return {
    [=](put, const std::string& key, std::int64_t value) { self->state.values[key] = value; },
    [=](get, const std::string& key) -> caf::result<std::int64_t> {
      const auto found = self->state.values.find(key);
      if (found == self->state.values.end())
        return caf::sec::invalid_argument;
      return found->second;
    },
  };
}

class client : public caf::event_based_actor {
public:
  client(caf::actor_config& config, caf::actor server, std::int64_t number, std::int64_t requests,
         caf::actor observer)
    : caf::event_based_actor(config),
      server_(std::move(server)),
      number_(number),
      requests_(requests),
      observer_(std::move(observer)) {
  }

  caf::behavior make_behavior() override {
    ask(0);
    return {[](caf::unit_t) {}};
  }

private:
  void ask(std::int64_t number) {
    if (number == requests_) {
      send(observer_, sum_);
      quit();
      return;
    }
    auto key
      = "client/" + std::to_string(number_) + "/" + std::to_string(number / 2 % keys_of_client);
    if (number % 2 == 0) {
      request(server_, caf::infinite, put::value, key, value_of(number_, number))
        .then([this, number] { ask(number + 1); });
      return;
    }
    if (is_for_missing_key(number))
      key += '?';
    request(server_, caf::infinite, get::value, key)
      .then([this, number](std::int64_t value) { go_on(number, value); },
            [this, number](const caf::error&) { go_on(number, for_an_error); });
  }

  void go_on(std::int64_t number, std::int64_t answer) {
    sum_ += answer;
    ask(number + 1);
  }

  caf::actor server_;
  std::int64_t number_;
  std::int64_t requests_;
  caf::actor observer_;
  std::int64_t sum_ = 0;
};

} // namespace

extern constinit const program key_values{
  .name = "key_values",
  .size = 300,
  .quick_size = 50,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      {
        const auto to = system.spawn(server); // ends with its last client
        for (std::int64_t i = 0; i < num_clients; ++i)
          system.spawn<client>(to, i, size, watching.handle());
      }
      return watching.sum_of_answers(num_clients);
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < num_clients; ++i)
        for (std::int64_t request = 1; request < size; request += 2)
          sum += is_for_missing_key(request) ? for_an_error : value_of(i, request);
      return sum;
    },
};

} // namespace basal::bench
