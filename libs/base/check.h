#ifndef CAIRN_LIBS_BASE_CHECK_H_
#define CAIRN_LIBS_BASE_CHECK_H_

#include <sstream>

// CAIRN_CHECK(condition) << "context": a bug of ours. Prints the condition and the context, then
// aborts. Always on. One condition a line, so that the message says which one failed.
// CAIRN_DCHECK: the same for costly conditions, on in debug presets (CAIRN_DCHECKS).
// For anything that input, a peer or the machine can cause, return an absl::Status instead.

namespace cairn::check_internal {

class Failure {
 public:
  Failure(const char* file, int line, const char* condition);
  [[noreturn]] ~Failure();  // aborts
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

// Lowest-precedence sink, so that `CAIRN_CHECK(x) << y` parses as one expression.
struct Voidify {
  void operator&(std::ostream&) const {}
};

}  // namespace cairn::check_internal

#define CAIRN_CHECK(condition)                       \
  (condition) ? static_cast<void>(0)                 \
              : ::cairn::check_internal::Voidify() & \
                    ::cairn::check_internal::Failure(__FILE__, __LINE__, #condition).stream()

#ifdef CAIRN_DCHECKS
#define CAIRN_DCHECK(condition) CAIRN_CHECK(condition)
#else
#define CAIRN_DCHECK(condition) CAIRN_CHECK(true || (condition))
#endif

#endif  // CAIRN_LIBS_BASE_CHECK_H_
