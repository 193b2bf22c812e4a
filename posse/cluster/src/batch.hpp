/// One run of a batch, from the coordinator's side.
///
/// An item is *waiting*, then *posted*, and ends *done* or *poisoned*. Messages are posted while
/// fewer than map_options::window are unanswered. Results go to the journal in groups; once a group
/// is synced its messages are settled with the engine and its results delivered, so that the
/// journal alone says what is done, whatever happens to the engine. If nothing arrives for a while
/// and the engine says that it has nothing of ours, it has lost it, and what is missing is posted
/// again.
///
/// The first result of an item counts until a check shows that it is wrong. Everything else that a
/// worker with a wrong result has delivered is *suspect*: posted once more, for others.
#pragma once

#include <basal/cluster/coordinator.hpp>
#include <basal/cluster/detail/item_queue.hpp>
#include <basal/cluster/journal.hpp>

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "referee.hpp"

namespace basal::cluster {

class batch {
public:
  /// @param id in every message of this batch; the same in all runs with one journal
  batch(const detail::batch_request& request, detail::item_queue& queue, detail::batch_id id,
        bool checks);

  /// A result that an earlier run left in the journal. Before run().
  void resume(const detail::journal_entry& entry);

  /// @param kept null: there is no journal
  manifest run(journal* kept);

private:
  using clock = std::chrono::steady_clock;

  enum class stage : std::uint8_t { waiting, posted, done, poisoned };

  struct item_state {
    detail::content_hash hash; ///< of the result that counts
    std::uint32_t worker = 0;  ///< that computed the result
    std::uint32_t tries = 0;   ///< that failed
    stage is = stage::waiting;
    bool suspect = false; ///< its worker is in quarantine, and nobody else has had it yet
    bool alone = false;   ///< to be posted without others
  };

  bool finished() const noexcept {
    return ended_ == items_.size() && suspects_ == 0 && referee_.open() == 0;
  }

  void post_more();
  std::size_t bundle_size() const noexcept;
  bool is_early() const noexcept;
  std::optional<std::uint64_t> next_item();

  /// Posts an item once more.
  /// @param alone without others, because it may be what a worker died of
  void again(std::uint64_t item, bool alone);

  void trust(item_state& state) noexcept;
  void take(const detail::result_message& message);
  void take_value(std::uint64_t item, std::uint32_t worker, detail::outcome what);
  void take_failure(std::uint64_t item, const detail::result_message& message,
                    const detail::outcome& what);
  void consider_check(std::uint64_t item, std::uint32_t worker);
  void judge(const verdict& v);
  void quarantine(std::uint32_t worker, std::uint64_t item);
  void record(std::uint32_t worker, const detail::outcome& what);
  void commit(journal* kept);
  void deliver(std::uint64_t item, std::string bytes);
  void flush_in_order();
  void look_for_losses();
  std::uint32_t number_of(const std::string& worker);
  void expect_worker() const;

  const detail::batch_request& request_;
  const map_options& options_;
  detail::item_queue& queue_;
  const detail::batch_id id_;
  const bool checks_;
  referee referee_;

  detail::shared_input shared_;

  std::vector<item_state> items_;
  std::uint64_t next_ = 0;          ///< items from here on have not been posted yet
  std::deque<std::uint64_t> again_; ///< to be posted once more
  std::size_t messages_out_ = 0;    ///< posted and not answered
  std::size_t ended_ = 0;           ///< done or poisoned
  std::size_t suspects_ = 0;
  double mean_seconds_ = -1;  ///< of an item; below 0: unknown
  std::size_t executors_ = 0; ///< of all workers that have answered

  std::vector<std::string> workers_; ///< by number
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::set<std::uint32_t> in_quarantine_;
  std::set<std::uint32_t> checked_once_;
  std::set<std::uint32_t> answered_;

  /// Results that are not in the journal yet, and the messages they came in.
  struct waiting_result {
    std::uint64_t item;
    std::string bytes;
    std::string entry; ///< of the journal
  };
  std::vector<waiting_result> uncommitted_;
  std::vector<detail::arrival> unsettled_;
  clock::time_point first_uncommitted_;

  std::map<std::uint64_t, std::string> early_; ///< results by item that wait for their turn
  std::uint64_t next_in_order_ = 0;

  const clock::time_point begun_ = clock::now();
  clock::time_point last_progress_ = clock::now();
  clock::time_point next_look_ = clock::now();
  bool engine_was_empty_ = false;
  manifest manifest_;
};

} // namespace basal::cluster
