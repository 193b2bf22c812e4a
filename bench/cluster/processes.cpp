#include "processes.hpp"

#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace basal::bench {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  result.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return result;
}

std::uint16_t free_port() {
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = loopback(0);
  socklen_t size = sizeof address;
  const bool good = s >= 0 && bind(s, reinterpret_cast<sockaddr*>(&address), size) == 0
                    && getsockname(s, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(s);
  if (!good)
    throw std::runtime_error{"no free port"};
  return ntohs(address.sin_port);
}

bool listens(std::uint16_t port) {
  const auto address = loopback(port);
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool result = connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(s);
  return result;
}

template <class Condition>
void await(Condition&& holds, const char* otherwise) {
  for (int i = 0; i < 10'000; ++i) {
    if (holds())
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  throw std::runtime_error{otherwise};
}

std::string server_program() {
  return std::filesystem::exists("/usr/sbin/nats-server") ? "/usr/sbin/nats-server" : "nats-server";
}

} // namespace

temporary_folder::temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "basal-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::runtime_error{"no temporary folder"};
  path_ = name;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

process::process(const std::vector<std::string>& command) : id_(fork()) {
  if (id_ < 0)
    throw std::runtime_error{"cannot start " + command.front()};
  if (id_ > 0)
    return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> words;
  for (const auto& word : command)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  _exit(127);
}

process::~process() {
  if (id_ <= 0)
    return;
  kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
}

local_cluster::local_cluster(int workers)
  : address_("nats://127.0.0.1:" + std::to_string(free_port())) {
  start_server();
  const auto file
    = [&](int i) { return (folder_.path() / ("ready-" + std::to_string(i))).string(); };
  for (int i = 0; i < workers; ++i)
    workers_.emplace_back(
      std::vector<std::string>{program("cluster_item"), "serve", address_, file(i)});
  for (int i = 0; i < workers; ++i)
    await([&] { return std::filesystem::exists(file(i)); }, "a worker does not come");
}

void local_cluster::start_server() {
  const auto port = address_.substr(address_.rfind(':') + 1);
  server_.emplace(std::vector<std::string>{server_program(), "-a", "127.0.0.1", "-p", port, "-js",
                                           "-sd", (folder_.path() / "store").string(), "-l",
                                           (folder_.path() / "log").string()});
  const auto number = static_cast<std::uint16_t>(std::stoi(port));
  await([&] { return listens(number); }, "nats-server does not listen");
}

void local_cluster::restart_server(std::chrono::milliseconds after) {
  server_.reset();
  std::this_thread::sleep_for(after);
  start_server();
}

answers answers_of(const std::string& command) {
  std::FILE* output = popen(command.c_str(), "r");
  if (output == nullptr)
    throw std::runtime_error{"cannot start a process"};
  answers result;
  std::uint64_t number = 0;
  std::uint64_t value = 0;
  while (std::fscanf(output, "%" SCNu64 " %" SCNu64, &number, &value) == 2) {
    ++result.count;
    result.sum += value;
  }
  const int status = pclose(output);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

std::string program(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

bool is_installed(const std::string& command) {
  return std::system(("command -v '" + command + "' >/dev/null 2>&1").c_str()) == 0;
}

} // namespace basal::bench
