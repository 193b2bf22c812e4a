/// A worker program: registers pure functions and serves them.
///
///     int main(int argc, char** argv) {
///       basal::cluster::registry functions;
///       functions.add(pure_render);
///       const basal::cluster::termination_signals signals; // before any thread starts
///       basal::cluster::serve(functions, {.connection = {.address = argv[1]},
///                                         .stop = signals.token()});
///     }
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>

#include <basal/cluster/connection.hpp>
#include <basal/cluster/registry.hpp>
#include <basal/cluster/termination_signals.hpp>
#include <basal/cluster/worker_report.hpp>
#include <basal/executors/placement.hpp>

namespace basal::cluster {

/// How a worker works.
struct serve_options {
  /// The engine that hands out the work.
  connection_options connection = {};

  /// How the worker is called in reports; empty: host and process.
  std::string name = {};

  /// Executors that items run on; as many items run at the same time.
  std::size_t executors = executors::usable_cpus();

  /// Bytes that one item may use on one executor; 0: no limit. A coordinator may ask for less.
  std::size_t memory_limit = 0;

  /// After which an item of a worker that has died goes to another: 1 s to 1 h. Workers prolong it
  /// for as long as they live. The first worker that serves a function decides for all.
  std::chrono::milliseconds lease = std::chrono::seconds{5};

  /// Called once the worker is connected and takes work: what a service manager wants to know.
  std::function<void()> on_ready = {};

  /// When a stop is requested, serve() returns; see there.
  std::stop_token stop = {};
};

/// Serves until a stop is requested: then what runs is finished, and what has not begun goes to
/// others. Returns early if a coordinator found a wrong result of this worker. Waits up to 30 s, as
/// a coordinator does, for a cluster that elects a leader.
/// @throws error no_server, refused, bad_option, too_few_servers, engine_failed
worker_report serve(const registry& functions, const serve_options& options);

} // namespace basal::cluster
