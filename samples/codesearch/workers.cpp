#include "workers.hpp"

#include <basal/actors/run_pure.hpp>

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "background.hpp"
#include "end_with_reason.hpp"
#include "messages.hpp"
#include "pure_functions.hpp"

namespace codesearch {

namespace {

// About a tenth of a second of indexing, so that the reading starts soon after the walk.
constexpr std::size_t files_per_turn = 512;

constexpr auto relaxed = std::memory_order_relaxed; // see progress_counters

// Calls `work` and tells the main thread if it fails, as it does when memory runs out: an index
// with a hole in it would give wrong answers. A null or empty result then ends the run.
template <class F>
auto guarded(context& run, const char* doing, F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const stopped&) {
    // whoever raised the flag knows
  } catch (const std::bad_alloc&) {
    run.events.post(indexing_failed{std::string("out of memory while ") + doing
                                    + "; index fewer files at a time"});
  } catch (const std::exception& e) {
    if (!run.stop.load(std::memory_order_relaxed)) {
      run.events.post(indexing_failed{std::string("failed while ") + doing + ": " + e.what()});
    }
  }
  return {};
}

// Calls `work(runtime)` on a compute executor that has nothing more urgent to do; the handler's
// fiber is suspended meanwhile, so `work` may refer to what is in its frame.
template <class F>
auto in_background(caf::event_based_actor* self, basal::priority::task_options options, F&& work) {
  auto& runtime = basal::actors::runtime_of(self->home_system());
  return background::pool_of(self->home_system())
    .submit(options, [&] { return work(runtime); })
    .get();
}

} // namespace

caf::behavior walker_actor(caf::stateful_actor<walker_state>* self, context_ptr run,
                           caf::actor index) {
  end_with_reason(self);
  self->state.walk.emplace(run->roots);
  self->send(self, list_more{});
  return {
    [self, run, index](list_more) {
      auto files = std::make_shared<std::vector<found_file>>();
      tree_walker& walk = *self->state.walk;
      const bool more = walk.step(files_per_turn, *files) && !run->stop.load(relaxed);
      std::uint64_t bytes = 0;
      for (const found_file& file : *files) {
        bytes += file.bytes;
      }
      run->progress.files_listed.fetch_add(files->size(), relaxed);
      run->progress.bytes_listed.fetch_add(bytes, relaxed);
      run->progress.walk_done.store(!more, relaxed);
      auto skips = std::make_shared<const skip_log>(std::exchange(walk.skips(), {}));
      self->send(index, files_listed{std::move(files), std::move(skips), walk.folders(), !more});
      if (more) {
        self->send(self, list_more{});
      } else {
        self->quit();
      }
    },
  };
}

caf::behavior reader_actor(caf::event_based_actor* self, context_ptr run, caf::actor index) {
  end_with_reason(self);
  return {
    [self, run, index](const read_request& request) {
      read_job& job = *request.job;
      const std::size_t before = job.task.next;
      guarded(*run, "reading files", [&] {
        read_files(job.task, job.limit, job.batch, job.skips, run->stop);
        return true;
      });
      job.files = job.task.next - before;
      self->send(index, read_done{request.job});
    },
  };
}

caf::behavior worker_actor(caf::event_based_actor* self, context_ptr run, caf::actor index) {
  end_with_reason(self);
  return {
    [self, run, index](const build_request& request) {
      auto result = guarded(*run, "indexing files", [&] {
        return pure_index_batch.offload(self, request.job->batch, run->stop);
      });
      self->send(index, build_done{request.job, std::move(result)});
    },
    [self, run, index](const merge_request& request) {
      auto result = guarded(*run, "merging parts of the index", [&] {
        return in_background(self, background::merge, [&](auto& runtime) {
          return pure_merge_to_one(runtime, request.segments, run->stop);
        });
      });
      self->send(index, merge_done{request.segments, std::move(result)});
    },
    [self, run, index](const rank_request& request) {
      auto result = guarded(*run, "ranking the files", [&] {
        return in_background(self, background::rank, [&](auto& runtime) {
          return std::make_shared<const ranking>(
            pure_rank_files(runtime, request.segments, run->stop));
        });
      });
      self->send(index, rank_done{std::move(result)});
    },
  };
}

} // namespace codesearch
