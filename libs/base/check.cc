#include "libs/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace cairn::check_internal {

Failure::Failure(const char* file, int line, const char* condition) {
  stream_ << file << ":" << line << " CHECK failed: " << condition << " ";
}

Failure::~Failure() {
  const std::string message = stream_.str() + "\n";
  std::fputs(message.c_str(), stderr);
  std::fflush(stderr);
  std::abort();
}

}  // namespace cairn::check_internal
