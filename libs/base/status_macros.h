#ifndef CAIRN_LIBS_BASE_STATUS_MACROS_H_
#define CAIRN_LIBS_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The two control-flow macros of this tree. Names and meaning are upstream's (Debian's Abseil lacks
// them), so that they can be deleted one day.

#define CAIRN_RETURN_IF_ERROR(expr)                                      \
  do {                                                                   \
    if (absl::Status cairn_s_ = (expr); !cairn_s_.ok()) return cairn_s_; \
  } while (false)

#define CAIRN_ASSIGN_OR_RETURN(lhs, expr) \
  CAIRN_ASSIGN_OR_RETURN_(CAIRN_CAT_(cairn_or_, __LINE__), lhs, expr)
#define CAIRN_ASSIGN_OR_RETURN_(tmp, lhs, expr)  \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = *std::move(tmp)
#define CAIRN_CAT_(a, b) CAIRN_CAT2_(a, b)
#define CAIRN_CAT2_(a, b) a##b

#endif  // CAIRN_LIBS_BASE_STATUS_MACROS_H_
