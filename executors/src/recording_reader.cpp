#include "recording_reader.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include <basal/executors/detail/demangled.hpp>

namespace basal::executors::recording_file {

namespace {

using basal::detail::record;

/// Takes values from the front of bytes, as far as there are any.
class input {
public:
  explicit input(std::span<const std::byte> bytes) noexcept : left_(bytes) {
  }

  template <class T>
  std::optional<T> take() noexcept {
    if (left_.size() < sizeof(T))
      return {};
    T result;
    std::memcpy(&result, left_.data(), sizeof result);
    left_ = left_.subspan(sizeof result);
    return result;
  }

  std::optional<std::span<const std::byte>> take(std::size_t bytes) noexcept {
    if (left_.size() < bytes)
      return {};
    return std::exchange(left_, left_.subspan(bytes)).first(bytes);
  }

  std::span<const std::byte> rest() const noexcept {
    return left_;
  }

private:
  std::span<const std::byte> left_;
};

std::string readable(std::string_view name) {
  if (!name.starts_with('@'))
    return std::string{name};
  return basal::detail::demangled(std::string{name.substr(1)}.c_str());
}

/// Ticks modulo 2^56 to nanoseconds, by the pair of times in the header: half of the 2^56 ticks
/// before it, and half after, are months.
std::uint64_t time_of(std::uint64_t ticks, const header& about) {
  constexpr unsigned unused = record::kind_bits;
  const auto since = static_cast<std::int64_t>((ticks - about.ticks) << unused) >> unused;
  const auto ns = static_cast<double>(since) / about.ticks_per_nanosecond;
  const auto result = static_cast<std::int64_t>(about.nanoseconds) + static_cast<std::int64_t>(ns);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, result));
}

header read_header(input& in) {
  const auto about = in.take<header>();
  if (!about || about->mark != magic)
    throw std::runtime_error("is no flight recording; recorder::write(), BASAL_TRACE and "
                             "BASAL_RECORDING write such files");
  if (about->format != version || about->kinds != record_kinds)
    throw std::runtime_error("is of another build (format " + std::to_string(about->format) + ", "
                             + std::to_string(about->kinds) + " kinds of records; this one reads "
                             + std::to_string(version) + " and " + std::to_string(record_kinds)
                             + "); take the basal-trace that was built with the program");
  if (!(about->ticks_per_nanosecond > 0))
    throw std::runtime_error("is damaged: its clock has no rate; record anew");
  return *about;
}

/// All chunks of the file, by what they belong to.
struct chunks {
  struct thread {
    std::int32_t id = 0;
    std::string name;
    std::vector<std::pair<std::uint64_t, record>> records; ///< with their numbers
  };

  /// By recording, and in there by the number of the thread's first record.
  std::map<std::uint32_t, std::map<std::uint64_t, thread>> threads;

  void add_thread(input in) {
    if (const auto t = in.take<thread_chunk>()) {
      auto& known = threads[t->recording][t->first];
      known.id = t->thread;
      known.name.assign(t->name.data(), strnlen(t->name.data(), t->name.size()));
    }
  }

  void add_records(input in) {
    const auto head = in.take<records_chunk>();
    if (!head)
      return;
    auto& of_recording = threads[head->recording];
    for (auto number = head->first;; ++number) {
      const auto r = in.take<record>();
      if (!r)
        return;
      auto owner = of_recording.upper_bound(number);
      if (owner != of_recording.begin())
        std::prev(owner)->second.records.emplace_back(number, *r);
    }
  }
};

} // namespace

contents read(std::span<const std::byte> file) {
  input in{file};
  contents result;
  result.about = read_header(in);
  chunks found;
  bool ended = false;
  while (!ended) {
    const auto head = in.take<chunk>();
    const auto body = head ? in.take(head->bytes) : std::nullopt;
    if (!body)
      break;
    input inside{*body};
    switch (head->what) {
    case tag::thread:
      found.add_thread(inside);
      break;
    case tag::records:
      found.add_records(inside);
      break;
    case tag::name:
      if (const auto number = inside.take<std::uint32_t>())
        result.names[static_cast<std::uint16_t>(*number)]
          = readable({reinterpret_cast<const char*>(inside.rest().data()), inside.rest().size()});
      break;
    case tag::end:
      ended = true;
      break;
    }
  }
  if (!ended)
    result.remarks
      += "it was cut off (the disk was full, or the program ended while it wrote); what "
         "came before is here\n";
  for (auto& [recording, threads] : found.threads)
    for (auto& [first, t] : threads) {
      auto& line = result.threads.emplace_back(timeline{t.name, t.id, {}});
      std::uint64_t time = 0;
      for (const auto& [number, r] : t.records) {
        if (r.kind() >= record_kinds)
          continue;
        time = std::max(time, time_of(r.ticks(), result.about));
        line.entries.push_back(
          {number, time, static_cast<record_kind>(r.kind()), r.subject(), r.name()});
      }
    }
  return result;
}

} // namespace basal::executors::recording_file
