#pragma once

#include "client.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/observer/server.hpp>

#include <caf/actor_system.hpp>

#include <basal/executors/report.hpp>

#include <mutex>
#include <string>

/// Takes the reports of this process for as long as it lives.
class captured_reports {
public:
  captured_reports() : before_(basal::executors::set_report_sink(take)) {
    const std::lock_guard guard{mutex()};
    text().clear();
  }

  captured_reports(const captured_reports&) = delete;
  captured_reports& operator=(const captured_reports&) = delete;

  ~captured_reports() {
    basal::executors::set_report_sink(before_);
  }

  bool have(const std::string& part) const {
    const std::lock_guard guard{mutex()};
    return text().find(part) != std::string::npos;
  }

private:
  static std::mutex& mutex() {
    static std::mutex result;
    return result;
  }

  static std::string& text() {
    static std::string result;
    return result;
  }

  static void take(basal::executors::report_level, std::string_view from,
                   std::string_view said) noexcept {
    const std::lock_guard guard{mutex()};
    text().append(from).append(": ").append(said).append("\n");
  }

  basal::executors::report_sink before_;
};

/// A system with an observer on a free port.
struct observed {
  struct config : basal::actor_system_config {
    config() {
      set("basal.message-executors", 2);
      set("basal.compute-executors", 1);
    }
  };

  config cfg;
  caf::actor_system system{cfg};
  basal::observer::server server;
  std::uint16_t port;
  std::string token;

  explicit observed(basal::observer::options options = {})
    : server(system, (options.listen = "127.0.0.1:0", options)) {
    const auto& url = server.url();
    const auto colon = url.rfind(':');
    const auto mark = url.find("/?token=");
    port = static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1, mark - colon - 1)));
    token = url.substr(mark + 8);
  }

  std::string bearer() const {
    return "Authorization: Bearer " + token + "\r\n";
  }

  client::response get(const std::string& path) const {
    return client::get(port, path, bearer());
  }
};
