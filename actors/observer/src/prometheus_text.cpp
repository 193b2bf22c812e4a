#include "prometheus_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace basal::observer {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

constexpr const char* name_of(MetricType type) noexcept {
  switch (type) {
  case MetricType::Counter:
    return "counter";
  case MetricType::Gauge:
    return "gauge";
  case MetricType::Summary:
    return "summary";
  case MetricType::Untyped:
    return "untyped";
  case MetricType::Histogram:
    return "histogram";
  }
  return "untyped";
}

void append(std::string& out, double x) {
  if (!std::isfinite(x)) {
    out += std::isnan(x) ? "Nan" : x > 0 ? "+Inf" : "-Inf";
    return;
  }
  std::array<char, 40> digits{};
  // A whole number in full, as people and programs read a count.
  constexpr double exact = 9007199254740992; // 2^53
  const bool whole = std::trunc(x) == x && std::abs(x) < exact;
  const auto end = whole ? std::to_chars(digits.begin(), digits.end(), static_cast<long long>(x))
                         : std::to_chars(digits.begin(), digits.end(), x);
  out.append(digits.begin(), end.ptr);
}

/// The value of a label, between quotes.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\\' || c == '"')
      (out += '\\') += c;
    else
      out += c;
  }
  out += '"';
}

/// `name{a="1",b="2"` of a metric; the last label and the brace are missing.
std::string head_of(const std::string& name, const char* suffix, const ClientMetric& metric) {
  std::string result = name;
  result += suffix;
  char before = '{';
  for (const auto& label : metric.label) {
    result += before;
    result += label.name;
    result += '=';
    append_quoted(result, label.value);
    before = ',';
  }
  return result;
}

void append_value(std::string& out, std::string_view head, bool has_labels, double value) {
  out += head;
  out += has_labels ? "} " : " ";
  append(out, value);
  out += '\n';
}

void append_histogram(std::string& out, const std::string& name, const ClientMetric& metric) {
  const auto& x = metric.histogram;
  const bool has_labels = !metric.label.empty();
  append_value(out, head_of(name, "_count", metric), has_labels,
               static_cast<double>(x.sample_count));
  append_value(out, head_of(name, "_sum", metric), has_labels, x.sample_sum);
  auto head = head_of(name, "_bucket", metric);
  head += has_labels ? ",le=\"" : "{le=\"";
  const auto bucket = [&](double limit, std::uint64_t count) {
    out += head;
    append(out, limit);
    out += "\"} ";
    append(out, static_cast<double>(count));
    out += '\n';
  };
  double last = -INFINITY;
  for (const auto& b : x.bucket)
    bucket(last = b.upper_bound, b.cumulative_count);
  if (last != INFINITY)
    bucket(INFINITY, x.sample_count);
}

/// About the length of the whole text, so that it grows once.
std::size_t length_of(const std::vector<prometheus::MetricFamily>& families) {
  constexpr std::size_t number = 24;
  std::size_t sum = 0;
  for (const auto& family : families) {
    sum += 2 * family.name.size() + family.help.size() + 2 * number;
    for (const auto& metric : family.metric) {
      auto line = family.name.size() + number;
      for (const auto& label : metric.label)
        line += label.name.size() + label.value.size() + 4;
      sum += family.type == MetricType::Histogram
               ? (line + number) * (metric.histogram.bucket.size() + 3)
               : line;
    }
  }
  return sum;
}

} // namespace

std::string prometheus_text(const std::vector<prometheus::MetricFamily>& families) {
  std::string out;
  out.reserve(length_of(families));
  for (const auto& family : families) {
    out += "# HELP " + family.name + ' ' + family.help + '\n';
    out += "# TYPE " + family.name + ' ' + name_of(family.type) + '\n';
    for (const auto& metric : family.metric) {
      if (family.type == MetricType::Histogram)
        append_histogram(out, family.name, metric);
      else
        append_value(out, head_of(family.name, "", metric), !metric.label.empty(),
                     family.type == MetricType::Counter ? metric.counter.value
                                                        : metric.gauge.value);
    }
  }
  return out;
}

} // namespace basal::observer
