#ifndef CAIRN_KERNELS_INTERPRETER_PROGRAM_H_
#define CAIRN_KERNELS_INTERPRETER_PROGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// PTX as the interpreter runs it: what nvcc made of a .cu file, with every name looked up.
// Source of all meanings: NVIDIA's PTX ISA manual, version 9.0.

namespace cairn::interpreter {

inline constexpr std::uint32_t kLanes = 32;
using Mask = std::uint32_t;  // a bit a lane
// A register of a warp: a value a lane. What has fewer than 64 bits is zero-extended; a predicate
// is 0 or 1.
using Register = std::array<std::uint64_t, kLanes>;

class Warp;
struct Instruction;
// Does an instruction for some lanes of a warp.
using Execute = void (*)(Warp&, const Instruction&, Mask);

// Which lanes must have come before an instruction is done, for all of them at once.
enum class Meets : std::uint8_t {
  kNobody,
  kWarp,     // `.aligned`: all that have not left the kernel
  kMask,     // those of a member mask
  kBarrier,  // goes on by itself to a barrier of the block, and waits there
};

// What an opcode does, and with how many operands (elements of vectors count one each).
struct Operation {
  Execute execute = nullptr;
  std::int32_t operands = 0;
  Meets meets = Meets::kNobody;
};

struct Operand {
  std::int32_t reg = 0;
  std::int32_t offset = 0;  // of an address
};

struct Instruction {
  enum class Kind : std::uint8_t { kPlain, kBranch, kExit, kUnknown };
  Kind kind = Kind::kPlain;
  Operation operation;
  std::int32_t guard = -1;  // a predicate's register: lanes where it is false do nothing
  bool is_guard_negated = false;
  std::int32_t target = -1;  // of a branch: an index of `Kernel::code`
  std::int32_t detail = 0;   // what an operation keeps of its opcode: sizes, ways
  std::vector<Operand> operands;
  std::uint32_t line = 0;  // of the PTX, from 1
  std::string text;
};

struct Parameter {
  std::string name;
  std::uint32_t offset = 0, bytes = 0;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t threads_max = 1024;
  std::uint32_t registers_first = 0;  // of a thread when it starts; 0: ptxas chooses
  std::vector<Instruction> code;
  std::int32_t registers = 0;
  // Registers that never change: numbers, %tid.x and the like, addresses of names.
  std::vector<std::pair<std::int32_t, std::uint64_t>> numbers;
  std::vector<std::pair<std::int32_t, std::string>> specials;
  std::vector<std::pair<std::int32_t, std::string>> names;
};

struct Program {
  std::map<std::string, Kernel, std::less<>> kernels;
  std::map<std::string, std::vector<std::byte>, std::less<>> constants;
  // Names of the dynamic shared memory, all of which are at one place, and the alignment they ask.
  std::set<std::string, std::less<>> shared;
  std::uint32_t shared_align = 1;
};

// Reads a module of PTX. "" or why not, with the line. An opcode that is not known is no error
// until it is reached.
std::string Parse(std::string_view ptx, Program& program);

}  // namespace cairn::interpreter
#endif  // CAIRN_KERNELS_INTERPRETER_PROGRAM_H_
