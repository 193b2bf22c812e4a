#include "index.hpp"

#include <algorithm>
#include <utility>

#include "end_with_reason.hpp"
#include "merge_policy.hpp"
#include "workers.hpp"

namespace codesearch {

namespace {

// With more segments than this, merges come before texts, since every query looks at every
// segment.
constexpr std::size_t many_segments = 8;

// The first texts are short, so that the workers soon have something to do; twice as long each
// time, up to a buffer.
constexpr std::size_t first_read_bytes = std::size_t{1} << 18;

// Fewer files are ranked once, at the end.
constexpr std::uint64_t fewest_files_to_rank = 2000;

// Ranks for answers given meanwhile are renewed when there are this many times as many files: all
// of that together costs a third of the last ranking.
constexpr std::uint64_t growth_between_rankings = 4;

constexpr auto relaxed = std::memory_order_relaxed; // see progress_counters

} // namespace

caf::behavior index_actor(caf::stateful_actor<index_owner>* self, context_ptr run) {
  return self->state.start(std::move(run));
}

caf::behavior index_owner::start(context_ptr run) {
  end_with_reason(self_);
  run_ = std::move(run);
  read_limit_ = first_read_bytes;
  const caf::actor me = caf::actor_cast<caf::actor>(self_);
  for (std::size_t i = 0; i < run_->readers; ++i) {
    idle_readers_.push_back(self_->spawn<caf::linked>(reader_actor, run_, me));
  }
  for (std::size_t i = 0; i < run_->workers; ++i) {
    idle_workers_.push_back(self_->spawn<caf::linked>(worker_actor, run_, me));
  }
  // Each reader fills one buffer and each worker empties one, and one of each waits in between.
  const std::size_t buffers = 2 * (run_->readers + run_->workers);
  for (std::size_t i = 0; i < buffers; ++i) {
    buffers_.push_back(std::make_unique<text_buffer>(run_->buffer_bytes));
  }
  self_->spawn<caf::linked>(walker_actor, run_, me); // its quit() ends nobody else
  return {
    [this](const files_listed& list) { on_files(list); },
    [this](const read_done& done) {
      on_read(caf::actor_cast<caf::actor>(self_->current_sender()), done.job);
    },
    [this](const build_done& done) { on_built(done); },
    [this](const merge_done& done) { on_merged(done); },
    [this](const rank_done& done) { on_ranked(done); },
    [this](state_request) { return state(); },
  };
}

void index_owner::on_files(const files_listed& list) {
  if (!list.files->empty()) {
    tasks_.push_back({std::move(*list.files), 0, nullptr});
  }
  summary_.skips.append(*list.skips);
  summary_.folders = list.folders;
  walk_done_ = list.last;
  hand_out_work();
}

void index_owner::on_read(caf::actor reader, std::shared_ptr<read_job> job) {
  --reading_;
  idle_readers_.push_back(std::move(reader));
  summary_.skips.append(job->skips);
  run_->progress.files_done.fetch_add(job->files, relaxed);
  run_->progress.bytes_done.fetch_add(job->batch.skipped_bytes, relaxed);
  if (!job->task.done()) {
    tasks_.push_front(std::exchange(job->task, {}));
  }
  if (job->batch.pieces.empty()) {
    buffers_.push_back(std::move(job->batch.buffer));
  } else {
    texts_.push_back(std::move(job));
  }
  hand_out_work();
}

void index_owner::on_built(const build_done& done) {
  --building_;
  idle_workers_.push_back(caf::actor_cast<caf::actor>(self_->current_sender()));
  run_->progress.bytes_done.fetch_add(done.job->batch.bytes, relaxed);
  buffers_.push_back(std::move(done.job->batch.buffer));
  if (done.result) {
    for (const auto& part : done.result->parts) {
      summary_.files += part->offset == 0 ? 1 : 0;
    }
    summary_.totals += done.result->totals;
    segments_.push_back(done.result);
    ++version_;
  }
  hand_out_work();
}

void index_owner::on_merged(const merge_done& done) {
  --merging_;
  idle_workers_.push_back(caf::actor_cast<caf::actor>(self_->current_sender()));
  if (done.result) {
    std::erase_if(in_merge_, [&](const segment_ptr& s) {
      return std::find(done.merged.begin(), done.merged.end(), s) != done.merged.end();
    });
    segments_.push_back(done.result);
    ++version_;
  }
  hand_out_work();
}

void index_owner::on_ranked(const rank_done& done) {
  ranking_ = false;
  idle_workers_.push_back(caf::actor_cast<caf::actor>(self_->current_sender()));
  if (done.result) {
    ranks_ = done.result;
    ranks_are_final_ = ranking_is_last_;
  }
  hand_out_work();
}

index_state index_owner::state() const {
  index_state result{version_, segments_, ranks_, complete_};
  result.segments.insert(result.segments.end(), in_merge_.begin(), in_merge_.end());
  return result;
}

void index_owner::hand_out_work() {
  if (run_->stop.load(relaxed)) {
    drop_queues();
    return;
  }
  while (hand_out_read()) {
  }
  while (hand_out_job()) {
  }
  if (!complete_ && all_indexed() && merging_ == 0 && segments_.size() <= 1
      && (ranks_are_final_ || summary_.files == 0)) {
    complete_ = true;
    post_summary();
  }
}

bool index_owner::hand_out_read() {
  if (tasks_.empty() || buffers_.empty() || idle_readers_.empty()) {
    return false;
  }
  auto job = std::make_shared<read_job>();
  job->task = std::move(tasks_.front());
  tasks_.pop_front();
  job->batch.buffer = std::move(buffers_.back());
  buffers_.pop_back();
  job->limit = std::min(read_limit_, job->batch.buffer->size());
  read_limit_ = std::min(2 * read_limit_, job->batch.buffer->size());
  ++reading_;
  self_->send(idle_readers_.back(), read_request{std::move(job)});
  idle_readers_.pop_back();
  return true;
}

bool index_owner::hand_out_job() {
  if (idle_workers_.empty()) {
    return false;
  }
  if (segments_.size() > many_segments && start_merge()) {
    return true;
  }
  if (!texts_.empty()) {
    ++building_;
    self_->send(idle_workers_.back(), build_request{std::move(texts_.front())});
    idle_workers_.pop_back();
    texts_.pop_front();
    return true;
  }
  return start_merge() || start_ranking();
}

bool index_owner::start_merge() {
  std::vector<segment_ptr> chosen;
  if (all_indexed()) {
    // The last merge takes all that is left and is itself parallel.
    if (merging_ > 0 || segments_.size() < 2) {
      return false;
    }
    chosen = std::exchange(segments_, {});
  } else {
    std::vector<std::size_t> sizes;
    for (const segment_ptr& s : segments_) {
      sizes.push_back(s->words.size());
    }
    const auto pair = choose_merge(sizes);
    if (!pair) {
      return false;
    }
    const auto [a, b] = std::minmax(pair->first, pair->second);
    chosen = {segments_[a], segments_[b]};
    segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(b));
    segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(a));
  }
  in_merge_.insert(in_merge_.end(), chosen.begin(), chosen.end());
  ++merging_;
  self_->send(idle_workers_.back(), merge_request{std::move(chosen)});
  idle_workers_.pop_back();
  return true;
}

bool index_owner::start_ranking() {
  const bool last = all_indexed();
  const bool due = last ? !ranks_are_final_ && summary_.files > 0
                        : summary_.files >= std::max(
                            fewest_files_to_rank, growth_between_rankings * files_at_last_ranking_);
  if (ranking_ || !due) {
    return false;
  }
  ranking_ = true;
  ranking_is_last_ = last;
  files_at_last_ranking_ = summary_.files;
  self_->send(idle_workers_.back(), rank_request{state().segments});
  idle_workers_.pop_back();
  return true;
}

void index_owner::drop_queues() {
  tasks_.clear();
  texts_.clear();
}

bool index_owner::all_indexed() const noexcept {
  return walk_done_ && tasks_.empty() && reading_ == 0 && texts_.empty() && building_ == 0;
}

void index_owner::post_summary() {
  if (!segments_.empty()) {
    summary_.words = segments_.front()->words.size();
  }
  summary_.includes = ranks_ ? ranks_->includes : 0;
  summary_.seconds = std::chrono::steady_clock::now() - run_->start;
  run_->events.post(std::make_shared<const index_summary>(std::move(summary_)));
}

} // namespace codesearch
