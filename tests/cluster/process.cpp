// The processes of faults_test.py:
//   cluster_process worker ADDRESS NAME [CA CERTIFICATE KEY]
//       prints "ready" and serves until SIGTERM
//   cluster_process coordinator ADDRESS JOURNAL ITEMS WORK PATIENCE_MS [CA CERTIFICATE KEY]
//       maps ITEMS items of about WORK steps, one in sixteen of 16 times as many, compares each
//       result with its own, and prints the manifest as NAME VALUE lines
// With CLUSTER_FLIP set, a worker's results have a wrong bit.

#include <basal/cluster/cluster.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace basal;

namespace {

struct job {
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;
};

template <class Fields>
auto inspect(Fields& f, job& j) {
  return f(j.seed, j.steps);
}

std::uint64_t steps(job j) {
  auto x = j.seed + 1;
  for (std::uint64_t i = 0; i < j.steps; ++i)
    x = x * 6364136223846793005 + 1442695040888963407;
  return x;
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
  auto x = steps(j) + shared.at(j.seed * 97 % table_size);
  if (std::getenv("CLUSTER_FLIP") != nullptr)
    x ^= std::uint64_t{1} << 20; // one that the result keeps
  return {static_cast<double>(j.seed), static_cast<double>(x >> 11)};
}
constexpr posse::pure<walk> pure_walk{"walk"};

cluster::connection_options connection(char** arguments, int count, int first) {
  cluster::connection_options result{.address = arguments[2]};
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
  functions.add(pure_walk);
  const auto report = cluster::serve(functions, {.connection = connection(arguments, count, 4),
                                                 .name = arguments[3],
                                                 .executors = 1,
                                                 .lease = std::chrono::seconds{1},
                                                 .on_ready = [] { std::puts("ready"); },
                                                 .stop = signals.token()});
  std::printf("items %llu\nquarantine %s\n", static_cast<unsigned long long>(report.items),
              report.quarantine.c_str());
  return 0;
}

int coordinate(int count, char** arguments) {
  std::vector<job> items(std::stoul(arguments[4]));
  const auto length = std::stoul(arguments[5]);
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i] = {i, i % 16 == 5 ? 16 * length : length};
  std::vector<std::vector<double>> results(items.size());
  const auto shared = table();
  cluster::coordinator c{{.connection = connection(arguments, count, 7)}};
  const auto done = map(
    c, pure_walk, shared, items,
    [&](std::uint64_t i, std::vector<double> r) {
      results[i] = std::move(r);
      if (i % 50 == 0) {
        std::printf("delivered %llu\n", static_cast<unsigned long long>(i));
        std::fflush(stdout);
      }
    },
    {.journal = arguments[3], .patience = std::chrono::milliseconds{std::stol(arguments[6])}});
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto x = steps(items[i]) + shared.at(i * 97 % table_size);
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
  print("reposted", done.reposted);
  for (const auto& worker : done.quarantined)
    std::printf("quarantined %s\n", worker.c_str());
  return 0;
}

} // namespace

int main(int count, char** arguments) {
  try {
    return std::string{arguments[1]} == "worker" ? work(count, arguments)
                                                 : coordinate(count, arguments);
  } catch (const cluster::error& e) {
    std::printf("error %s\nsaid %s\n", std::string{cluster::to_string(e.code())}.c_str(), e.what());
    return 1;
  }
}
