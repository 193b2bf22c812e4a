#include "thread_facts.hpp"

#include <basal/executors/detail/demangled.hpp>
#include <basal/executors/detail/record_names.hpp>
#include <basal/executors/detail/recording.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <string_view>

#include <unistd.h>

namespace basal::actors {

namespace {

using basal::detail::record;
using basal::detail::record_names;
using executors::record_kind;

std::string content(const std::string& folder, const char* file) {
  std::ifstream in{folder + file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// A recorded name: of a type, or a text.
std::string name_of(std::uint16_t number) {
  if (number == 0 || number >= record_names::count())
    return {};
  const auto text = record_names::text(number);
  if (!text.starts_with('@'))
    return std::string{text};
  return basal::detail::demangled(std::string{text.substr(1)}.c_str());
}

/// The latest work in the executor's latest 256 records; empty if they name none.
std::string latest_work(const executors::executor& e) {
  const auto* flight = e.flight();
  if (flight == nullptr)
    return {};
  std::array<record, 256> copied;
  const auto written = flight->ring().written();
  const auto from = written - std::min<std::uint64_t>(written, copied.size());
  const auto [first, found] = flight->ring().read(from, copied);
  for (auto r = found.rbegin(); r != found.rend(); ++r) {
    const auto kind = static_cast<record_kind>(r->kind());
    if (kind == record_kind::resumes)
      return name_of(r->name());
    if (kind == record_kind::begins) {
      const auto asked = name_of(static_cast<std::uint16_t>(r->subject()));
      return name_of(r->name()) + (asked.empty() ? "" : " <- " + asked);
    }
  }
  return {};
}

/// The kernel's function in which the thread sleeps; empty if it does not sleep.
std::string kernel_function(const std::string& folder) {
  const auto stat = content(folder, "stat");
  const auto name_ends = stat.rfind(')'); // the state is behind the name, which may hold anything
  if (name_ends == std::string::npos || name_ends + 2 >= stat.size())
    return {};
  const auto state = stat[name_ends + 2];
  if (state != 'S' && state != 'D')
    return {};
  const auto function = content(folder, "wchan");
  return function.empty() || function == "0" ? "a system call" : function;
}

} // namespace

thread_facts facts_of(const executors::executor& e, bool all) {
  thread_facts result;
  const auto thread = e.thread();
  if (thread == 0)
    return result;
  const auto folder = "/proc/self/task/" + std::to_string(thread) + '/';
  // "ran waited slices", the first two in nanoseconds; nothing where the kernel does not count.
  std::uint64_t ran = 0;
  std::ifstream{folder + "schedstat"} >> ran >> result.waited_ns;
  if (all) {
    result.kernel_function = kernel_function(folder);
    result.work = latest_work(e);
  }
  return result;
}

std::string work_of(const executors::executor& e) {
  const auto* kind = e.doing();
  if (kind == nullptr)
    return {};
  auto work = latest_work(e);
  return work.empty() ? kind : work;
}

std::uint64_t stolen_ns() {
  // "cpu user nice system idle iowait irq softirq steal ...": sums over all CPUs.
  std::ifstream in{"/proc/stat"};
  std::string cpu;
  std::array<std::uint64_t, 8> ticks{};
  in >> cpu;
  for (auto& x : ticks)
    in >> x;
  const auto per_second = sysconf(_SC_CLK_TCK);
  const auto cpus = sysconf(_SC_NPROCESSORS_ONLN);
  if (!in || per_second <= 0 || cpus <= 0)
    return 0;
  return ticks.back() * (1'000'000'000 / static_cast<std::uint64_t>(per_second))
         / static_cast<std::uint64_t>(cpus);
}

} // namespace basal::actors
