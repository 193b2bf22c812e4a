/// Takes work from a source, runs it on executors, and hands the results back.
///
/// Three threads beside the executors: the one that calls run() fetches; the keeper prolongs the
/// leases of everything in hand, so that no item, however long, loses its lease to another item's
/// computation; the completer hands in what is finished, as much at a time as there is. All three
/// sleep while there is nothing for them. `mutex_` guards what they share with the executors.
#pragma once

#include <basal/cluster/detail/message.hpp>
#include <basal/cluster/registry.hpp>
#include <basal/cluster/work_source.hpp>
#include <basal/cluster/worker_report.hpp>
#include <basal/posse/runtime.hpp>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace basal::cluster {

class worker {
public:
  /// All of them outlive the worker.
  worker(std::string name, const registry& functions, posse::runtime& runtime);

  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// Works until a stop is requested or a coordinator puts this worker into quarantine, finishes
  /// what runs, and gives back the rest.
  worker_report run(work_source& source, std::stop_token stop);

  /// Carries out a message to all workers. Any thread.
  std::optional<detail::worker_info> obey(const detail::control_message& told);

private:
  struct job {
    worker* owner;
    leased_work work;
    detail::item_message message;
    std::shared_ptr<const void> shared; ///< by its items; decoded
    std::stop_source stop;
  };

  static const executors::work_ops ops;

  void accept(work_source& source, leased_work work);
  std::shared_ptr<const void> open_shared(work_source& source, const detail::item_message& message);
  void launch_locked();
  void leave();
  void give_back_waiting();
  void perform(job& j);
  detail::outcome attempt(const detail::registered& function, const void* shared,
                          const detail::posted_item& item, const posse::call_options& options);
  detail::result_message empty_result(const job& j) const;
  void finish(const std::string& token, std::optional<std::string> result);
  void finish_locked(const std::string& token, std::optional<std::string> result);
  void keep(work_source& source, std::stop_token stop);
  void hand_in(work_source& source, std::stop_token stop);

  const std::string name_;
  const registry& functions_;
  posse::runtime& runtime_;
  const std::size_t most_running_;
  const std::size_t most_unfinished_;
  const std::size_t most_in_hand_;

  std::mutex mutex_;
  std::condition_variable_any room_;         ///< fewer messages are in hand: for run()
  std::condition_variable_any work_;         ///< a message is in hand: for the keeper
  std::condition_variable_any done_;         ///< a message is finished: for the completer
  std::map<std::string, job*> in_hand_;      ///< by token; null once it is finished
  std::deque<std::unique_ptr<job>> waiting_; ///< not begun; executors would slice their time
  std::size_t running_ = 0;
  std::vector<completed_work> finished_;
  worker_report report_;

  /// Values that items share: those of the last batches, the newest first. Only run()'s thread uses
  /// it.
  struct opened {
    detail::function_key function;
    detail::shared_input input;
    std::shared_ptr<const void> value;
  };
  std::deque<opened> opened_;
  std::stop_source quarantine_;
};

} // namespace basal::cluster
