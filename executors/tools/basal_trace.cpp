// basal-trace RECORDING TRACE: a flight recording becomes a file for https://ui.perfetto.dev.

#include <basal/executors/trace.hpp>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& remedy) {
  throw std::runtime_error(what + ": " + std::generic_category().message(errno) + remedy);
}

std::string content_of(const std::string& path) {
  errno = 0;
  std::ifstream in{path, std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  if (!in)
    refuse("cannot read " + path, "; name a file that recorder::write() or BASAL_TRACE has made");
  return bytes;
}

void write(const std::string& path, const std::string& bytes) {
  errno = 0;
  std::ofstream out{path, std::ios::binary | std::ios::trunc};
  out << bytes;
  out.close();
  if (!out)
    refuse("cannot write " + path,
           "; make room there, or name a file in a folder that you may write to");
}

void convert(const std::string& from, const std::string& to) {
  const auto bytes = content_of(from);
  basal::executors::perfetto_trace trace;
  try {
    trace = basal::executors::to_perfetto(std::as_bytes(std::span{bytes}));
  } catch (const std::runtime_error& problem) {
    throw std::runtime_error(from + " " + problem.what());
  }
  write(to, trace.bytes);
  std::size_t begin = 0;
  for (auto end = trace.remarks.find('\n'); end != std::string::npos;
       begin = end + 1, end = trace.remarks.find('\n', begin))
    std::fprintf(stderr, "basal-trace: %s: %s\n", from.c_str(),
                 trace.remarks.substr(begin, end - begin).c_str());
  std::printf("%zu records; open %s at https://ui.perfetto.dev\n", trace.records, to.c_str());
}

} // namespace

int main(int argc, char** argv) {
  const bool helps = argc == 2 && std::string_view{argv[1]} == "--help";
  if (helps || argc != 3) {
    std::fputs("usage: basal-trace RECORDING TRACE\n"
               "Converts a flight recording of basal for https://ui.perfetto.dev.\n",
               helps ? stdout : stderr);
    return helps ? 0 : 2;
  }
  try {
    convert(argv[1], argv[2]);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "basal-trace: %s\n", problem.what());
    return 1;
  }
}
