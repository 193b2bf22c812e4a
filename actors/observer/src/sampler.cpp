#include "sampler.hpp"

#include "json.hpp"
#include "version.hpp"

namespace basal::observer {

namespace {

/// Explanations of the numbers, in the modules' own words.
json words_of(const actors::system_stats& stats) {
  auto verdicts = json::object();
  stats.posse.verdicts.for_each([&](posse::theft_verdict verdict, std::uint64_t) {
    const auto text = describe(verdict);
    verdicts[text.name] = text.meaning;
  });
  auto choosers = json::array();
  for (const auto& chooser : stats.choosers)
    choosers.push_back(explain(chooser));
  return {{"verdicts", std::move(verdicts)}, {"choosers", std::move(choosers)}};
}

std::string json_of(const sample& x) {
  const auto now_ms
    = std::chrono::duration_cast<std::chrono::milliseconds>(x.when.time_since_epoch()).count();
  return text_of({
    {"schema", 1},
    {"tick", x.number},
    {"time_ms", now_ms},
    {"process",
     {{"name", x.process.name},
      {"pid", x.process.pid},
      {"version", version},
      {"uptime_ms", now_ms - static_cast<std::int64_t>(x.process.start_time_seconds * 1000)},
      {"cpu_ms", static_cast<std::int64_t>(x.process.cpu_seconds * 1000)},
      {"resident_bytes", x.process.resident_bytes},
      {"open_fds", x.process.open_fds}}},
    {"stats", to_json(x.stats)},
    {"words", words_of(x.stats)},
  });
}

} // namespace

const std::string& sample::json() const {
  std::call_once(once_, [this] { json_ = json_of(*this); });
  return json_;
}

std::shared_ptr<const sample> sampler::not_older_than(std::chrono::milliseconds age) {
  const std::lock_guard guard{mutex_};
  const auto now = std::chrono::steady_clock::now();
  if (newest_ != nullptr && now - newest_->taken <= age)
    return newest_;
  auto made = std::make_shared<sample>();
  made->number = newest_ != nullptr ? newest_->number + 1 : 1;
  made->taken = now;
  made->when = std::chrono::system_clock::now();
  made->stats = actors::stats_of(system_);
  made->process = read_process();
  newest_ = std::move(made);
  return newest_;
}

std::shared_ptr<const sample> sampler::watched(std::chrono::milliseconds age,
                                               std::chrono::milliseconds longer) {
  actors::watch_actors(system_, longer);
  return not_older_than(age);
}

std::uint64_t sampler::taken() const {
  const std::lock_guard guard{mutex_};
  return newest_ != nullptr ? newest_->number : 0;
}

} // namespace basal::observer
