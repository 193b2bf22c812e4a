#include "searcher.hpp"

#include <basal/actors/run_pure.hpp>

#include <caf/send.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/printable.hpp"

#include "background.hpp"
#include "end_with_reason.hpp"
#include "messages.hpp"
#include "pure_functions.hpp"
#include "report.hpp"
#include "snippet.hpp"

namespace codesearch {

namespace {

constexpr std::size_t columns_shown = 160;

// Of somebody who asks from elsewhere: queries take milliseconds.
constexpr std::chrono::seconds patience{4};

// Start of the part of the file that holds the line, so that the last line of a large file does not
// cost a look at all of it.
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

answer::line show(const catalog& files, const hit& h) {
  const snippet text = read_line(h.path, h.line, nearest_mark(files, h));
  return {h, text.found ? samples::printable(text.text, columns_shown) : text.text, text.found};
}

// Lines are read by whichever executors are idle, and here; in the order of the hits.
void show_all(basal::priority::background_pool& pool, const stop_flag& stop, const catalog& files,
              const std::vector<hit>& hits, std::vector<answer::line>& out) {
  std::vector<background::task_handle<answer::line>> lines;
  // Whatever happens, none of them is left that refers to this frame.
  struct settle {
    std::vector<background::task_handle<answer::line>>& lines;
    ~settle() {
      for (auto& l : lines) {
        if (l.valid() && !l.cancel()) {
          l.wait();
        }
      }
    }
  } guard{lines};
  lines.reserve(hits.size());
  for (const hit& h : hits) {
    // An empty handle if the queue is full.
    lines.push_back(pool.try_submit(background::show, [&] { return show(files, h); }));
  }
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (stop.load(std::memory_order_relaxed)) {
      throw stopped{};
    }
    auto read_here = [&] { return show(files, hits[i]); };
    out.push_back(lines[i].valid() ? background::get_or_do(pool, std::move(lines[i]), read_here)
                                   : read_here());
  }
}

std::string printed(const answer& a) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  if (out == nullptr) {
    throw std::bad_alloc{};
  }
  print_answer(out, a, true);
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

} // namespace

caf::behavior searcher_actor(caf::stateful_actor<searcher_state>* self, context_ptr run,
                             caf::actor index) {
  end_with_reason(self);
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
            auto& runtime = basal::actors::runtime_of(self->home_system());
            auto& pool = background::pool_of(self->home_system());
            const file_ranks& ranks = now.ranks ? now.ranks->ranks : no_ranks;
            auto look = [&] {
              return pure_search(runtime, *state.files, ranks, request.asked, request.top);
            };
            const found all
              = background::get_or_do(pool, pool.submit(background::search, look), look);
            result->seconds = std::chrono::steady_clock::now() - asked_at;
            result->matches = all.matches;
            show_all(pool, run->stop, *state.files, all.hits, result->lines);
            request.deliver(std::shared_ptr<const answer>(std::move(result)));
          } catch (const stopped&) {
            // whoever raised the flag knows
          } catch (const std::exception& e) {
            request.deliver(indexing_failed{"failed while searching: " + std::string(e.what())});
          }
        });
    },
  };
}

std::string ask(const caf::actor& searcher, const std::string& text, std::size_t top) {
  parsed_query parsed = parse_query(text);
  if (!parsed) {
    return parsed.error;
  }
  auto promised = std::make_shared<std::promise<event>>();
  auto delivered = promised->get_future();
  caf::anon_send(searcher, search_request{std::move(parsed.value), top, [promised](event e) {
                                            promised->set_value(std::move(e));
                                          }});
  promised.reset(); // now the request's alone, and broken when that is dropped
  if (delivered.wait_for(patience) != std::future_status::ready) {
    return "The program is too busy to answer; ask again, or give it more --executors.";
  }
  try {
    const event e = delivered.get();
    if (const auto* found = std::get_if<std::shared_ptr<const answer>>(&e)) {
      return printed(**found);
    }
    return std::get<indexing_failed>(e).message;
  } catch (const std::future_error&) {
    return "The program ends, and answers no more.";
  }
}

} // namespace codesearch
