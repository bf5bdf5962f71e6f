#include "libs/base/log.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "absl/strings/escaping.h"
#include "libs/base/mutex.h"

namespace cairn {
namespace {

std::atomic<LogLevel> g_least{LogLevel::kInfo};

struct Output {
  Mutex mutex;
  LogSink* sink CAIRN_GUARDED_BY(mutex) = nullptr;
};
Output& TheOutput() {
  static Output* const output = new Output;
  return *output;
}

const char* NameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
      return "ERROR";
  }
  return "?";
}

// Values from outside may hold anything: a line stays one line, and a value one word.
std::string Quoted(absl::string_view value) {
  bool is_plain = !value.empty();
  for (const char c : value) is_plain = is_plain && c > ' ' && c < 127 && c != '"' && c != '=';
  if (is_plain) return std::string(value);
  return absl::StrCat("\"", absl::CEscape(value), "\"");
}

}  // namespace

absl::StatusOr<LogLevel> ParseLogLevel(absl::string_view name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "info") return LogLevel::kInfo;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  return absl::InvalidArgumentError(
      absl::StrCat("log level \"", name, "\" is not one of debug, info, warning, error"));
}

void SetLogLevel(LogLevel least) { g_least.store(least, std::memory_order_relaxed); }

bool LogEnabled(LogLevel level) { return level >= g_least.load(std::memory_order_relaxed); }

void SetLogSink(LogSink* sink) {
  Output& output = TheOutput();
  MutexLock lock(output.mutex);
  output.sink = sink;
}

LogEvent::LogEvent(LogLevel level, absl::string_view event) : enabled_(LogEnabled(level)) {
  if (!enabled_) return;
  line_ = absl::StrCat(NameOf(level), " ",
                       absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::Now(), absl::UTCTimeZone()),
                       " ", static_cast<long>(::syscall(SYS_gettid)), " ", event);
}

void LogEvent::Append(absl::string_view key, absl::string_view value) {
  absl::StrAppend(&line_, " ", key, "=", Quoted(value));
}

LogEvent::~LogEvent() {
  if (!enabled_) return;
  Output& output = TheOutput();
  MutexLock lock(output.mutex);
  if (output.sink != nullptr) {
    output.sink->Write(line_);
    return;
  }
  line_.push_back('\n');
  std::fwrite(line_.data(), 1, line_.size(), stderr);
}

bool LogLimiter::Admit(std::uint64_t* held_back) {
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::steady_clock::now().time_since_epoch())
                               .count();
  std::int64_t next = next_ns_.load(std::memory_order_relaxed);
  if (now < next || !next_ns_.compare_exchange_strong(next, now + every_ns_)) {
    held_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  *held_back = held_.exchange(0, std::memory_order_relaxed);
  return true;
}

}  // namespace cairn
