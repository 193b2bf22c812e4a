// The processes of faults_test.py, network_test.py and three_servers_test.py:
//   cluster_process worker ADDRESS NAME [CA CERTIFICATE KEY]
//       prints "ready" and serves until SIGTERM
//   cluster_process coordinator ADDRESS JOURNAL ITEMS WORK_US PATIENCE_MS [CA CERTIFICATE KEY]
//       maps ITEMS items of WORK_US, one in sixteen of 16 times as much, compares each result with
//       its own, and prints the manifest as NAME VALUE lines. Items wait, so that they last as long
//       on a busy machine, and a test leaves its CPUs to others
//   cluster_process journal FILE ITEMS
//       prints how many records the journal has, and how many of its items have one record
// CLUSTER_REPLICAS is connection_options::replicas, CLUSTER_EXECUTORS serve_options::executors,
// CLUSTER_TRIES map_options::tries.
// With CLUSTER_FLIP set, a worker's results have a wrong bit; with CLUSTER_VERSION, its function
// has that version. With CLUSTER_TAIL, the seed of a draw, items take from 20 us to 200 ms, most of
// them little, whatever WORK_US says.

#include <basal/cluster/cluster.hpp>

#include <basal/cluster/detail/frame.hpp>
#include <basal/cluster/detail/message.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace basal;

namespace {

struct job {
  std::uint64_t seed = 0;
  std::uint64_t us = 0;
};

template <class Fields>
auto inspect(Fields& f, job& j) {
  return f(j.seed, j.us);
}

std::uint64_t mixed(std::uint64_t seed) {
  return (seed + 1) * 6364136223846793005 + 1442695040888963407;
}

// Several parts of what the engine takes in one message.
constexpr std::size_t table_size = 200'000;

std::vector<std::uint64_t> table() {
  std::vector<std::uint64_t> result(table_size);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = i * i;
  return result;
}

std::vector<double> walk(posse::member&, const std::vector<std::uint64_t>& shared, const job& j) {
  std::this_thread::sleep_for(std::chrono::microseconds{j.us});
  auto x = mixed(j.seed) + shared.at(j.seed * 97 % table_size);
  if (std::getenv("CLUSTER_FLIP") != nullptr)
    x ^= std::uint64_t{1} << 20; // one that the result keeps
  return {static_cast<double>(j.seed), static_cast<double>(x >> 11)};
}
constexpr posse::pure<walk> pure_walk{"walk"};

cluster::connection_options connection(char** arguments, int count, int first) {
  cluster::connection_options result{.address = arguments[2]};
  if (const char* replicas = std::getenv("CLUSTER_REPLICAS"))
    result.replicas = std::stoul(replicas);
  if (count >= first + 3) {
    result.ca_file = arguments[first];
    result.certificate_file = arguments[first + 1];
    result.key_file = arguments[first + 2];
  }
  return result;
}

int work(int count, char** arguments) {
  const cluster::termination_signals signals;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  cluster::registry functions;
  const char* version = std::getenv("CLUSTER_VERSION");
  functions.add(pure_walk,
                version == nullptr ? 1 : static_cast<std::uint32_t>(std::stoul(version)));
  const char* executors = std::getenv("CLUSTER_EXECUTORS");
  const auto report
    = cluster::serve(functions, {.connection = connection(arguments, count, 4),
                                 .name = arguments[3],
                                 .executors = executors == nullptr ? 1 : std::stoul(executors),
                                 .lease = std::chrono::seconds{1},
                                 .on_ready = [] { std::puts("ready"); },
                                 .stop = signals.token()});
  std::printf("items %llu\nquarantine %s\n", static_cast<unsigned long long>(report.items),
              report.quarantine.c_str());
  return 0;
}

std::vector<job> make_items(std::size_t count, std::uint64_t us) {
  std::vector<job> result(count);
  const char* tail = std::getenv("CLUSTER_TAIL");
  std::mt19937_64 random{tail == nullptr ? 0 : std::stoull(tail)};
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = {i, i % 16 == 5 ? 16 * us : us};
    if (tail != nullptr) {
      const auto u = (static_cast<double>(random() >> 11) + 1) * 0x1p-53;
      result[i].us = static_cast<std::uint64_t>(std::min(20 * std::pow(u, -1.2), 200'000.0));
    }
  }
  return result;
}

int coordinate(int count, char** arguments) {
  const auto items = make_items(std::stoul(arguments[4]), std::stoul(arguments[5]));
  std::vector<std::vector<double>> results(items.size());
  const auto shared = table();
  cluster::coordinator c{{.connection = connection(arguments, count, 7)}};
  cluster::map_options options{.journal = arguments[3],
                               .patience = std::chrono::milliseconds{std::stol(arguments[6])}};
  if (const char* tries = std::getenv("CLUSTER_TRIES"))
    options.tries = static_cast<std::uint32_t>(std::stoul(tries));
  const auto done = map(
    c, pure_walk, shared, items,
    [&](std::uint64_t i, std::vector<double> r) {
      results[i] = std::move(r);
      if (i % 50 == 0) {
        std::printf("delivered %llu\n", static_cast<unsigned long long>(i));
        std::fflush(stdout);
      }
    },
    options);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto x = mixed(items[i].seed) + shared.at(i * 97 % table_size);
    wrong += results[i] != std::vector{static_cast<double>(i), static_cast<double>(x >> 11)};
  }
  const auto print = [](const char* name, std::uint64_t value) {
    std::printf("%s %llu\n", name, static_cast<unsigned long long>(value));
  };
  print("wrong", wrong);
  print("results", done.results);
  print("resumed", done.resumed);
  print("duplicates", done.duplicates);
  print("mismatches", done.mismatches);
  print("corrected", done.corrected);
  print("poisoned", done.poisoned.size());
  print("redeliveries", done.redeliveries);
  print("reposted", done.reposted);
  for (const auto& worker : done.quarantined)
    std::printf("quarantined %s\n", worker.c_str());
  return 0;
}

int inspect_journal(char** arguments) {
  std::ifstream in{arguments[2], std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  std::string_view rest = bytes;
  const auto next = [&rest](cluster::detail::frame_kind kind) {
    const auto body = cluster::detail::open_frame(kind, rest);
    rest.remove_prefix(cluster::detail::frame_header_bytes + body.size());
    return body;
  };
  next(cluster::detail::frame_kind::journal_header);
  std::vector<unsigned> records(std::stoul(arguments[3]));
  std::size_t all = 0;
  for (; !rest.empty(); ++all) {
    const auto body = next(cluster::detail::frame_kind::journal_record);
    ++records.at(cluster::decode<cluster::detail::journal_entry>(body).what.item);
  }
  std::printf("records %zu\nonce %td\n", all, std::count(records.begin(), records.end(), 1U));
  return 0;
}

} // namespace

int main(int count, char** arguments) {
  try {
    const std::string what = arguments[1];
    return what == "worker"    ? work(count, arguments)
           : what == "journal" ? inspect_journal(arguments)
                               : coordinate(count, arguments);
  } catch (const cluster::error& e) {
    std::printf("error %s\nsaid %s\n", std::string{cluster::to_string(e.code())}.c_str(), e.what());
    return 1;
  }
}
