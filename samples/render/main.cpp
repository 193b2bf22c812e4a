// A Mandelbrot picture in tiles: in this process, or by workers anywhere.
//
//   render                                                in this process
//   render --cluster nats://127.0.0.1:4222 --workers 2    by two processes that it starts
//   render --cluster nats://127.0.0.1:4222 --serve        is such a worker, until SIGTERM

#include "common/between.hpp"
#include "common/program.hpp"
#include "png.hpp"

#include <basal/cluster/cluster.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cluster = basal::cluster;
namespace posse = basal::posse;

namespace {

constexpr std::uint32_t tile_side = 64;

struct tile {
  std::uint32_t x = 0, y = 0;          ///< of its first pixel
  std::uint32_t width = 0, height = 0; ///< of the picture
  std::uint32_t iterations = 0;

  std::uint32_t right() const {
    return std::min(x + tile_side, width);
  }
  std::uint32_t bottom() const {
    return std::min(y + tile_side, height);
  }
};

template <class Fields>
auto inspect(Fields& f, tile& t) {
  return f(t.x, t.y, t.width, t.height, t.iterations);
}

/// Red, green and blue of the tile's pixels, row by row.
std::vector<std::uint8_t> paint(posse::member& m, const tile& t) {
  std::vector<std::uint8_t> result;
  const double scale = 3.0 / t.width;
  for (auto y = t.y; y < t.bottom(); ++y) {
    m.poll(); // so that a deadline or a stop ends it
    for (auto x = t.x; x < t.right(); ++x) {
      const double cr = x * scale - 2.2;
      const double ci = (static_cast<double>(y) - t.height / 2.0) * scale;
      double zr = 0;
      double zi = 0;
      std::uint32_t n = 0;
      for (; n < t.iterations && zr * zr + zi * zi < 4; ++n) {
        const double next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
      }
      const bool inside = n == t.iterations;
      for (const std::uint32_t speed : {3U, 5U, 11U})
        result.push_back(inside ? std::uint8_t{0} : static_cast<std::uint8_t>(n * speed));
    }
  }
  return result;
}
constexpr posse::pure<paint> pure_paint{"paint"};

struct settings {
  std::uint32_t width = 1200;
  std::uint32_t height = 800;
  std::uint32_t iterations = 2000;
  std::string output = "picture.png";
  std::string journal;
  bool serves = false;
  std::size_t executors = basal::executors::usable_cpus(); ///< of a worker
  int workers = 0;
  cluster::connection_options connection;
};

/// Worker processes that end with this one's picture.
class local_workers {
public:
  explicit local_workers(const settings& s) {
    std::string program = "/proc/self/exe";
    std::vector<std::string> words{"render", "--serve", "--cluster", s.connection.address};
    if (s.connection.replicas != 0)
      words.insert(words.end(), {"--replicas", std::to_string(s.connection.replicas)});
    if (!s.connection.ca_file.empty())
      words.insert(words.end(), {"--ca", s.connection.ca_file, "--certificate",
                                 s.connection.certificate_file, "--key", s.connection.key_file});
    std::vector<char*> arguments;
    for (auto& word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    for (int i = 0; i < s.workers; ++i) {
      pid_t id = 0;
      if (posix_spawn(&id, program.c_str(), nullptr, nullptr, arguments.data(), environ) == 0)
        ids_.push_back(id);
    }
  }
  ~local_workers() {
    for (const auto id : ids_)
      kill(id, SIGTERM);
    for (const auto id : ids_)
      waitpid(id, nullptr, 0);
  }
  local_workers(const local_workers&) = delete;
  local_workers& operator=(const local_workers&) = delete;

private:
  std::vector<pid_t> ids_;
};

int serve(const settings& s) {
  const cluster::termination_signals signals;
  cluster::registry functions;
  functions.add(pure_paint);
  const auto report = cluster::serve(
    functions, {.connection = s.connection, .executors = s.executors, .stop = signals.token()});
  if (!report.quarantine.empty())
    samples::complain("render", report.quarantine);
  return report.quarantine.empty() ? 0 : 1;
}

int render_picture(const settings& s) {
  std::vector<tile> tiles;
  for (std::uint32_t y = 0; y < s.height; y += tile_side)
    for (std::uint32_t x = 0; x < s.width; x += tile_side)
      tiles.push_back({x, y, s.width, s.height, s.iterations});
  std::vector<std::uint8_t> pixels(std::size_t{3} * s.width * s.height);
  const local_workers workers{s};
  cluster::coordinator coordinator{{.connection = s.connection}};
  std::size_t done = 0;
  const auto deliver = [&](std::uint64_t i, const std::vector<std::uint8_t>& colours) {
    const auto& t = tiles[i];
    const auto row = std::size_t{3} * (t.right() - t.x);
    for (auto y = t.y; y < t.bottom(); ++y)
      std::copy_n(colours.begin() + static_cast<std::ptrdiff_t>((y - t.y) * row), row,
                  pixels.begin()
                    + static_cast<std::ptrdiff_t>(3 * (std::size_t{y} * s.width + t.x)));
    if (isatty(STDERR_FILENO) != 0)
      std::fprintf(stderr, "\r%zu of %zu tiles", ++done, tiles.size());
  };
  const auto manifest = map(coordinator, pure_paint, tiles, deliver, {.journal = s.journal});
  if (isatty(STDERR_FILENO) != 0)
    std::fprintf(stderr, "\n");
  render::write_png(s.output, s.width, s.height, pixels);
  std::printf("%s\n%s\n", s.output.c_str(), manifest.text().c_str());
  return manifest.poisoned.empty() ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
  settings s;
  CLI::App app{"A Mandelbrot picture in tiles, in this process or by workers anywhere"};
  app.add_option("--width", s.width, "Pixels")->check(samples::between(1, 20'000));
  app.add_option("--height", s.height, "Pixels")->check(samples::between(1, 20'000));
  app.add_option("--iterations", s.iterations, "Of a pixel, at most")
    ->check(samples::between(1, 1'000'000));
  app.add_option("-o,--output", s.output, "The PNG file");
  app.add_option("--journal", s.journal,
                 "A file that keeps finished tiles: the same command goes on with them");
  auto* address = app.add_option("--cluster", s.connection.address, "nats://HOST:PORT");
  auto* serve_flag = app.add_flag("--serve", s.serves, "Be a worker")->needs(address);
  app.add_option("--executors", s.executors, "Of a worker: so many items at the same time")
    ->check(samples::between(1, 1024))
    ->needs(serve_flag);
  app.add_option("--workers", s.workers, "Start so many worker processes here")
    ->check(samples::between(0, 64))
    ->needs(address);
  app
    .add_option(
      "--replicas", s.connection.replicas,
      "Servers that keep a copy of everything, if they have no streams yet; usually 3 of a "
      "cluster, and 1 where there is no cluster")
    ->check(samples::between(1, 5))
    ->needs(address);
  app.add_option("--ca", s.connection.ca_file, "Authorities that sign the server's certificate");
  app.add_option("--certificate", s.connection.certificate_file, "Our certificate");
  app.add_option("--key", s.connection.key_file, "Its key");
  CLI11_PARSE(app, count, arguments);
  return samples::run_program("render", 1, [&] { return s.serves ? serve(s) : render_picture(s); });
}
