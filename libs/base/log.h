#ifndef CAIRN_LIBS_BASE_LOG_H_
#define CAIRN_LIBS_BASE_LOG_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// One line per event on stderr: `level time thread event key=value ...`. The event is noun_verb in
// the past tense. Never per block; an error once, where it is handled.
//   LogEvent(LogLevel::kWarning, "checksum_failed").With("slot", slot).With("peer", name);
// The line is written when the statement ends. Threads: any.

namespace cairn {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

absl::StatusOr<LogLevel> ParseLogLevel(absl::string_view name);  // debug, info, warning, error
void SetLogLevel(LogLevel least);
bool LogEnabled(LogLevel level);

// Where lines go instead of stderr, for tests; nullptr restores stderr. The sink must outlive its
// use.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Write(absl::string_view line) = 0;  // without the line's end
};
void SetLogSink(LogSink* sink);

class LogEvent {
 public:
  LogEvent(LogLevel level, absl::string_view event);
  ~LogEvent();
  LogEvent(const LogEvent&) = delete;
  LogEvent& operator=(const LogEvent&) = delete;

  template <class T>
  LogEvent& With(absl::string_view key, const T& value) & {
    if (enabled_) Append(key, absl::StrCat(value));
    return *this;
  }
  template <class T>
  LogEvent&& With(absl::string_view key, const T& value) && {
    if (enabled_) Append(key, absl::StrCat(value));
    return static_cast<LogEvent&&>(*this);
  }

 private:
  void Append(absl::string_view key, absl::string_view value);
  const bool enabled_;
  std::string line_;
};

// Lets an event through at most once per `every`, per site, and counts what it held back.
//   static LogLimiter limiter(absl::Seconds(10));
//   if (std::uint64_t held = 0; limiter.Admit(&held)) LogEvent(...).With("held_back", held);
// Threads: any.
class LogLimiter {
 public:
  explicit LogLimiter(absl::Duration every) : every_ns_(absl::ToInt64Nanoseconds(every)) {}
  bool Admit(std::uint64_t* held_back);

 private:
  const std::int64_t every_ns_;
  std::atomic<std::int64_t> next_ns_{0};
  std::atomic<std::uint64_t> held_{0};
};

}  // namespace cairn
#endif  // CAIRN_LIBS_BASE_LOG_H_
