#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace conformance {

/// Observations of the scenarios, in an order independent of the scheduler: handlers without an
/// order among themselves write to a `section` of their own, and sections are printed by name.
class transcript {
public:
  /// Lines of one thread of events. Any thread may write.
  class section {
  public:
    explicit section(std::string name) : name_(std::move(name)) {
    }

    void line(std::string text) {
      std::lock_guard guard{mutex_};
      lines_.push_back(std::move(text));
    }

    /// Prints the lines sorted: for events whose order is free. Called by the main thread.
    section& unordered() {
      unordered_ = true;
      return *this;
    }

    void print(std::ostream& out) {
      if (unordered_)
        std::sort(lines_.begin(), lines_.end());
      out << "[" << name_ << "]\n";
      for (const auto& text : lines_)
        out << "  " << text << "\n";
    }

  private:
    std::string name_;
    std::mutex mutex_;
    std::vector<std::string> lines_;
    bool unordered_ = false;
  };

  /// Begins a section. Called by the main thread only; the reference stays valid.
  section& begin(std::string name) {
    return *sections_.emplace_back(std::make_unique<section>(std::move(name)));
  }

  /// Called when every actor is gone.
  void print(std::ostream& out) {
    for (const auto& part : sections_)
      part->print(out);
  }

private:
  std::vector<std::unique_ptr<section>> sections_;
};

} // namespace conformance
