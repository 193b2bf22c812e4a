#include "searcher.hpp"

#include <basal/actors/run_pure.hpp>

#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "messages.hpp"
#include "pure_functions.hpp"
#include "snippet.hpp"

namespace codesearch {

namespace {

constexpr std::size_t columns_shown = 160;

// Where the part of the file starts that holds the line, so that the last line of a large file
// does not cost a look at all of it.
line_mark nearest_mark(const catalog& files, const hit& h) {
  line_mark mark;
  for (const file_part* part : files.parts(files.index_of(h.file))) {
    // A part may start inside its first line.
    if (part->first_line < h.line) {
      mark = {part->first_line, part->offset};
    }
  }
  return mark;
}

answer::line show(const catalog& files, hit h) {
  const snippet text = read_line(h.path, h.line, nearest_mark(files, h));
  return {std::move(h), text.found ? printable(text.text, columns_shown) : text.text, text.found};
}

} // namespace

caf::behavior searcher_actor(caf::stateful_actor<searcher_state>* self, context_ptr run,
                             caf::actor index) {
  return {
    [self, run, index](const search_request& request) {
      const auto asked_at = std::chrono::steady_clock::now();
      self->request(index, caf::infinite, state_request{})
        .then([self, run, request, asked_at](const index_state& now) {
          searcher_state& state = self->state;
          if (!state.files || state.version != now.version) {
            state.files = std::make_shared<const catalog>(now.segments);
            state.version = now.version;
          }
          static const file_ranks no_ranks;
          auto result = std::make_shared<answer>();
          result->asked = request.asked;
          result->files = state.files->size();
          result->complete = now.complete;
          try {
            found all = pure_search(self, *state.files, now.ranks ? now.ranks->ranks : no_ranks,
                                    request.asked, request.top);
            result->seconds = std::chrono::steady_clock::now() - asked_at;
            result->matches = all.matches;
            for (hit& h : all.hits) {
              if (run->stop.load(std::memory_order_relaxed)) {
                return;
              }
              result->lines.push_back(show(*state.files, std::move(h)));
            }
            run->events.post(std::shared_ptr<const answer>(std::move(result)));
          } catch (const std::exception& e) {
            run->events.post(indexing_failed{"failed while searching: " + std::string(e.what())});
          }
        });
    },
  };
}

} // namespace codesearch
