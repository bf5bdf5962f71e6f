#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "kernels/interpreter/statement.h"
#include "kernels/interpreter/warp.h"

// Loads, stores and atomics, and the asynchronous copies, which are done at once here: whether a
// kernel waits for them is the emulator's to find out.

namespace cairn::interpreter {
namespace {

enum class Space : std::uint8_t { kGlobal, kShared };

// A lane's part of a vector of `in.detail` values of type T.
template <class T, Space kSpace>
void Load(Warp& warp, const Instruction& in, Mask lanes) {
  const auto count = static_cast<std::size_t>(in.detail);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const std::byte* const from = kSpace == Space::kShared
                                      ? warp.Shared(in, count, lane, count * sizeof(T))
                                      : warp.Global(in, count, lane, count * sizeof(T), false);
    for (std::size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, from + i * sizeof(T), sizeof(T));
      warp.at(in, i)[lane] = value;
    }
  }
}
template <class T, Space kSpace>
void Store(Warp& warp, const Instruction& in, Mask lanes) {
  const auto count = static_cast<std::size_t>(in.detail);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    std::byte* const to = kSpace == Space::kShared
                              ? warp.Shared(in, 0, lane, count * sizeof(T))
                              : warp.Global(in, 0, lane, count * sizeof(T), true);
    for (std::size_t i = 0; i < count; ++i) {
      const T value = static_cast<T>(warp.at(in, i + 1)[lane]);
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
  }
  warp.Progress();
}

template <Space kSpace>
Execute LoadOrStore(bool is_load, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return is_load ? &Load<std::uint8_t, kSpace> : &Store<std::uint8_t, kSpace>;
    case 2:
      return is_load ? &Load<std::uint16_t, kSpace> : &Store<std::uint16_t, kSpace>;
    case 4:
      return is_load ? &Load<std::uint32_t, kSpace> : &Store<std::uint32_t, kSpace>;
    default:
      return is_load ? &Load<std::uint64_t, kSpace> : &Store<std::uint64_t, kSpace>;
  }
}

// [ld or st][.space][.nc][.L1::no_allocate][.v2 or .v4].type; a space that is not named is global.
// Parameters and constants are where the host put them, too.
Operation FindLoadOrStore(const Statement& statement, Instruction& instruction) {
  const bool is_load = statement.parts[0] == "ld";
  if (!is_load && statement.parts[0] != "st") return {};
  static constexpr std::string_view kKnown[] = {"global", "shared",          "param", "const",
                                                "nc",     "L1::no_allocate", "v2",    "v4"};
  for (std::size_t i = 1; i + 1 < statement.parts.size(); ++i) {
    if (std::find(std::begin(kKnown), std::end(kKnown), statement.parts[i]) == std::end(kKnown)) {
      return {};
    }
  }
  static constexpr std::string_view kTypes[] = {"b8",  "u8",  "b16", "u16", "b32",
                                                "u32", "f32", "b64", "u64"};
  static constexpr std::size_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 8, 8};
  const auto* const type =
      std::find(std::begin(kTypes), std::end(kTypes), std::string_view(statement.parts.back()));
  if (type == std::end(kTypes)) return {};
  const std::size_t bytes = kBytes[type - std::begin(kTypes)];
  instruction.detail = statement.Has("v4") ? 4 : statement.Has("v2") ? 2 : 1;
  return {statement.Has("shared") ? LoadOrStore<Space::kShared>(is_load, bytes)
                                  : LoadOrStore<Space::kGlobal>(is_load, bytes),
          1 + instruction.detail, Meets::kNobody};
}

// atom.space.op.type d, [a], b(, c): lane by lane.
template <auto kFunction, Space kSpace>
void Atomic(Warp& warp, const Instruction& in, Mask lanes) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    std::byte* const at =
        kSpace == Space::kShared ? warp.Shared(in, 1, lane, 4) : warp.Global(in, 1, lane, 4, true);
    std::uint32_t old = 0;
    std::memcpy(&old, at, 4);
    const auto b = static_cast<std::uint32_t>(warp.at(in, 2)[lane]);
    const auto c = in.operands.size() > 3 ? static_cast<std::uint32_t>(warp.at(in, 3)[lane]) : 0;
    const std::uint32_t now = kFunction(old, b, c);
    std::memcpy(at, &now, 4);
    warp.at(in, 0)[lane] = old;
  }
  warp.Progress();
}
constexpr auto kAddWord = [](std::uint32_t old, std::uint32_t b, std::uint32_t) { return old + b; };
constexpr auto kMaxWord = [](std::uint32_t old, std::uint32_t b, std::uint32_t) {
  return std::max(old, b);
};
constexpr auto kExchange = [](std::uint32_t, std::uint32_t b, std::uint32_t) { return b; };
constexpr auto kCompareAndSwap = [](std::uint32_t old, std::uint32_t b, std::uint32_t c) {
  return old == b ? c : old;
};
constexpr auto kAddFloat = [](std::uint32_t old, std::uint32_t b, std::uint32_t) {
  float x = 0, y = 0;
  std::memcpy(&x, &old, 4);
  std::memcpy(&y, &b, 4);
  x += y;
  std::memcpy(&old, &x, 4);
  return old;
};

Operation FindAtomic(const Statement& statement) {
  const std::string& opcode = statement.opcode;
  if (opcode == "atom.global.add.u32") return {&Atomic<kAddWord, Space::kGlobal>, 3};
  if (opcode == "atom.shared.add.u32") return {&Atomic<kAddWord, Space::kShared>, 3};
  if (opcode == "atom.shared.max.u32") return {&Atomic<kMaxWord, Space::kShared>, 3};
  if (opcode == "atom.shared.exch.b32") return {&Atomic<kExchange, Space::kShared>, 3};
  if (opcode == "atom.shared.cas.b32") return {&Atomic<kCompareAndSwap, Space::kShared>, 4};
  if (opcode == "atom.shared.add.f32") return {&Atomic<kAddFloat, Space::kShared>, 3};
  return {};
}

// cp.async.[cg or ca].shared.global [to], [from], size(, how much of it is read: the rest is zero)
void CopyAsync(Warp& warp, const Instruction& in, Mask lanes) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const std::uint64_t size = warp.at(in, 2)[lane];
    const std::uint64_t read =
        in.operands.size() > 3 ? static_cast<std::uint32_t>(warp.at(in, 3)[lane]) : size;
    if ((size != 16 && (in.detail != 0 || (size != 4 && size != 8))) || read > size) {
      return warp.Fault(in, "a size that cp.async does not take");
    }
    if ((warp.at(in, 1)[lane] + static_cast<std::uint64_t>(in.operands[1].offset)) % size != 0) {
      return warp.Fault(in, "a source that is not aligned to the whole size");
    }
    std::byte* const to = warp.Shared(in, 0, lane, size);
    std::memset(to, 0, size);
    if (read > 0) std::memcpy(to, warp.Global(in, 1, lane, read, false), read);
    warp.copies(lane).Add();
  }
  warp.Progress();
}

// cp.async.bulk.global.shared::cta.bulk_group [to], [from], size
void StoreBulk(Warp& warp, const Instruction& in, Mask lanes) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const auto size = static_cast<std::uint32_t>(warp.at(in, 2)[lane]);
    if (size == 0 || size % 16 != 0) return warp.Fault(in, "a size that is no multiple of 16");
    std::byte* const to = warp.Global(in, 0, lane, size, true);
    const std::byte* const from = warp.Shared(in, 1, lane, size);
    if (!warp.has_fault()) std::memcpy(to, from, size);
    warp.bulk_stores(lane).Add();
  }
  warp.Progress();
}

}  // namespace

Operation FindMemory(const Statement& statement, Instruction& instruction) {
  if (const Operation found = FindLoadOrStore(statement, instruction); found.execute != nullptr) {
    return found;
  }
  if (statement.parts[0] == "atom") return FindAtomic(statement);
  if (statement.opcode == "cp.async.cg.shared.global" ||
      statement.opcode == "cp.async.ca.shared.global") {
    instruction.detail = statement.parts[2] == "cg" ? 1 : 0;
    return {&CopyAsync, static_cast<std::int32_t>(instruction.operands.size()) == 3 ? 3 : 4};
  }
  if (statement.opcode == "cp.async.bulk.global.shared::cta.bulk_group") return {&StoreBulk, 3};
  return {};
}

}  // namespace cairn::interpreter
