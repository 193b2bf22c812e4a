#include "recording_file.hpp"

#include <basal/executors/detail/record_names.hpp>
#include <basal/executors/detail/recording.hpp>
#include <basal/executors/detail/tick_clock.hpp>

#include <cerrno>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

namespace basal::executors::recording_file {

using basal::detail::record;
using basal::detail::record_names;
using basal::detail::recording;

void writer::put(const void* bytes, std::size_t count) noexcept {
  const auto* next = static_cast<const char*>(bytes);
  while (count > 0 && error_ == 0) {
    const auto n = ::write(file_, next, count);
    if (n < 0 && errno != EINTR) {
      error_ = errno;
    } else if (n > 0) {
      next += n;
      count -= static_cast<std::size_t>(n);
    }
  }
}

template <class Head>
void writer::put_chunk(tag what, const Head& head, std::span<const std::byte> rest) noexcept {
  const chunk c{what, static_cast<std::uint32_t>(sizeof head + rest.size())};
  put(&c, sizeof c);
  put(&head, sizeof head);
  put(rest.data(), rest.size());
}

void writer::begin() noexcept {
  header h;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  h.ticks = tick_clock::now();
  h.nanoseconds = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000
                  + static_cast<std::uint64_t>(now.tv_nsec);
  h.ticks_per_nanosecond = tick_clock::per_nanosecond();
  h.process = getpid();
  if (const auto* name = program_invocation_short_name)
    for (std::size_t i = 0; i + 1 < h.program.size() && name[i] != '\0'; ++i)
      h.program[i] = name[i];
  put(&h, sizeof h);
}

std::uint64_t writer::add_records(std::size_t index, std::uint64_t from,
                                  std::uint64_t since) noexcept {
  const auto& source = recording::at(index);
  const auto first = source.first();
  put_chunk(tag::thread,
            thread_chunk{static_cast<std::uint32_t>(index), source.thread(), first, source.name()},
            {});
  from = std::max(from, first);
  const auto end = source.ring().written(); // a writer that is quicker than this does not keep us
  std::array<record, 256> copied;
  while (from < end && error_ == 0) {
    const auto wanted = std::min<std::uint64_t>(copied.size(), end - from);
    auto [number, found]
      = source.ring().read(from, {copied.data(), static_cast<std::size_t>(wanted)});
    lost_ += number - from;
    from = number + found.size();
    while (!found.empty() && found.front().ticks() < since) {
      found = found.subspan(1);
      ++number;
    }
    if (!found.empty())
      put_chunk(tag::records, records_chunk{static_cast<std::uint32_t>(index), 0, number},
                std::as_bytes(found));
  }
  return from;
}

std::size_t writer::add_names(std::size_t from) noexcept {
  const auto end = record_names::count();
  for (; from < end; ++from)
    put_chunk(tag::name, static_cast<std::uint32_t>(from),
              std::as_bytes(std::span{record_names::text(from)}));
  return from;
}

void writer::end() noexcept {
  const chunk c{tag::end, 0};
  put(&c, sizeof c);
}

} // namespace basal::executors::recording_file
