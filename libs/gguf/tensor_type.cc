#include "libs/gguf/tensor_type.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "libs/base/check.h"

namespace cairn {
namespace {

struct Row {
  TensorType type;
  const char* name;
  TensorGroup group;
};

constexpr Row kTypes[] = {
    {TensorType::kF32, "F32", kGroupF32},    {TensorType::kF16, "F16", kGroupF16},
    {TensorType::kBf16, "BF16", kGroupBf16}, {TensorType::kQ8_0, "Q8_0", kGroupQ8_0},
    {TensorType::kQ4_0, "Q4_0", kGroupQ4_0}, {TensorType::kQ4_1, "Q4_1", kGroupQ4_1},
};

const Row* RowOf(TensorType type) {
  for (const Row& row : kTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

// Types of the format that we do not read, so that the message can name what the user has.
const char* ForeignName(std::uint32_t number) {
  switch (number) {
    case 6:
      return "Q5_0";
    case 7:
      return "Q5_1";
    case 9:
      return "Q8_1";
    case 10:
      return "Q2_K";
    case 11:
      return "Q3_K";
    case 12:
      return "Q4_K";
    case 13:
      return "Q5_K";
    case 14:
      return "Q6_K";
    case 15:
      return "Q8_K";
    case 24:
      return "I8";
    case 25:
      return "I16";
    case 26:
      return "I32";
    case 27:
      return "I64";
    case 28:
      return "F64";
    default:
      return "unknown";
  }
}

}  // namespace

TensorGroup GroupOf(TensorType type) {
  const Row* row = RowOf(type);
  CAIRN_CHECK(row != nullptr) << "tensor type " << static_cast<std::uint32_t>(type);
  return row->group;
}

const char* NameOf(TensorType type) {
  const Row* row = RowOf(type);
  return row == nullptr ? "unknown" : row->name;
}

absl::StatusOr<TensorType> TensorTypeFromNumber(std::uint32_t number) {
  const TensorType type = static_cast<TensorType>(number);
  if (RowOf(type) != nullptr) return type;
  return absl::UnimplementedError(absl::StrCat("type ", ForeignName(number), " (", number,
                                               "); supported: F32 F16 BF16 Q8_0 Q4_0 Q4_1"));
}

}  // namespace cairn
