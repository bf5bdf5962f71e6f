#ifndef CAIRN_KERNELS_INTERPRETER_STATEMENT_H_
#define CAIRN_KERNELS_INTERPRETER_STATEMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "kernels/interpreter/program.h"

// Between the parser, which knows operands, and the tables of opcodes.

namespace cairn::interpreter {

struct Statement {
  std::string opcode;               // "ld.global.v4.f32"
  std::string_view text;            // behind it
  std::vector<std::string> parts;   // of the opcode, between dots
  std::vector<std::size_t> groups;  // elements of each operand: 4 of {a, b, c, d}
  bool Has(std::string_view part) const;
};

// Each finds what `statement` is for, if it is theirs, and may set `instruction.detail`. An
// operation without `execute`: not theirs.
Operation FindArithmetic(const Statement& statement, Instruction& instruction);
Operation FindMemory(const Statement& statement, Instruction& instruction);
Operation FindTogether(const Statement& statement, Instruction& instruction);
Operation FindMatrix(const Statement& statement, Instruction& instruction);

}  // namespace cairn::interpreter
#endif  // CAIRN_KERNELS_INTERPRETER_STATEMENT_H_
