#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "kernels/interpreter/program.h"
#include "kernels/interpreter/statement.h"

namespace cairn::interpreter {
namespace {

constexpr std::uint32_t kOperandsMax = 256;
constexpr std::uint64_t kRegistersMax = 1 << 20;         // of a kernel, virtual ones
constexpr std::uint32_t kParameterBytesMax = 32 * 1024;  // of a kernel, a little more than PTX's
constexpr std::uint64_t kConstantBytesMax = 64 * 1024;   // of a module, on a GPU

bool IsNamed(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}
// "a, {b, c}, [d]" -> "a" "{b, c}" "[d]".
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '{' || text[i] == '[') - (text[i] == '}' || text[i] == ']');
    if (text[i] != separator || depth > 0) continue;
    out.push_back(Trim(text.substr(from, i - from)));
    from = i + 1;
  }
  if (!Trim(text.substr(from)).empty()) out.push_back(Trim(text.substr(from)));
  return out;
}
// 12, -12, 0x1F, 0f3F800000 (the bits of a float), 0d... (of a double).
std::optional<std::uint64_t> Number(std::string_view text) {
  const bool is_negative = !text.empty() && text[0] == '-';
  if (is_negative) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && std::isdigit(static_cast<unsigned char>(text[1])) == 0) {
    if (std::string_view("xXfFdD").find(text[1]) == std::string_view::npos) return std::nullopt;
    base = 16;
    text.remove_prefix(2);
  }
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return is_negative ? std::uint64_t{0} - value : value;
}
std::uint32_t BytesOfType(std::string_view type) {  // ".b8", ".u64"
  const std::optional<std::uint64_t> bits = type.size() > 2 ? Number(type.substr(2)) : std::nullopt;
  return bits ? static_cast<std::uint32_t>(*bits / 8) : 0;
}

class Parser {
 public:
  Parser(std::string_view text, Program& program) : text_(text), program_(program) {}

  std::string Run() {
    while (error_.empty() && SkipSpace()) {
      const std::string_view word = PeekWord();
      if (word == ".version" || word == ".target" || word == ".address_size") {
        SkipLine();
      } else if (word == ".const") {
        ReadConstant();
      } else if (word == ".extern") {
        ReadExtern();
      } else if (word == ".visible" || word == ".weak") {
        at_ += word.size();
      } else if (word == ".entry") {
        at_ += word.size();
        ReadKernel();
      } else {
        Fail("\"" + std::string(word) + "\" is not known here");
      }
    }
    return error_;
  }

 private:
  void Fail(std::string what) {
    if (error_.empty()) error_ = "PTX, line " + std::to_string(Line()) + ": " + std::move(what);
  }
  std::uint32_t Line() {
    const auto from = text_.begin() + static_cast<std::ptrdiff_t>(counted_);
    const auto to = text_.begin() + static_cast<std::ptrdiff_t>(std::max(at_, counted_));
    line_ += static_cast<std::uint32_t>(std::count(from, to, '\n'));
    counted_ = std::max(at_, counted_);
    return line_;
  }
  // False: the end.
  bool SkipSpace() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\0') {
        at_ = text_.size();
      } else if (text_.compare(at_, 2, "//") == 0) {
        SkipLine();
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else {
        return true;
      }
    }
    return false;
  }
  void SkipLine() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  std::string_view PeekWord() const {
    std::size_t end = at_;
    while (end < text_.size() && IsNamed(text_[end])) ++end;
    return text_.substr(at_, std::max(end, at_ + 1) - at_);
  }
  std::string_view ReadTo(char end) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) {
      Fail(std::string("\"") + end + "\" is missing");
      at_ = text_.size();
      return {};
    }
    const std::string_view out = text_.substr(at_, found - at_);
    at_ = found + 1;
    return out;
  }

  // .const .align 8 .b8 name[16] = {1, 2, ...}
  void ReadConstant() {
    const std::string_view text = ReadTo(';');
    const std::size_t bracket = text.find('['), open = text.find('{'), close = text.rfind('}');
    const std::size_t type = text.find(".b8 ");
    if (bracket == std::string_view::npos || open == std::string_view::npos ||
        close == std::string_view::npos || type == std::string_view::npos) {
      return Fail("a constant that is no list of bytes");
    }
    std::vector<std::byte>& bytes =
        program_.constants[std::string(Trim(text.substr(type + 4, bracket - type - 4)))];
    const std::vector<std::string_view> items = Split(text.substr(open + 1, close - open - 1), ',');
    // What is not written is zero.
    const std::uint64_t count =
        Number(text.substr(bracket + 1, text.find(']') - bracket - 1)).value_or(0);
    if (items.size() > count || count > kConstantBytesMax) return Fail("a constant's size");
    bytes.assign(count, std::byte{0});
    for (std::size_t i = 0; i < items.size(); ++i) {
      bytes[i] = static_cast<std::byte>(Number(items[i]).value_or(0));
    }
  }

  // .extern .shared .align 16 .b8 name[]
  void ReadExtern() {
    const std::string_view text = ReadTo(';');
    const std::size_t type = text.find(".b8 "), bracket = text.find('[');
    if (text.find(".shared") == std::string_view::npos || type == std::string_view::npos ||
        bracket == std::string_view::npos) {
      return Fail("something external that is no shared memory");
    }
    program_.shared.emplace(Trim(text.substr(type + 4, bracket - type - 4)));
    const std::size_t align = text.find(".align ");
    if (align == std::string_view::npos) return;
    const std::string_view digits = text.substr(align + 7, type - align - 7);
    const auto bytes = static_cast<std::uint32_t>(Number(Trim(digits)).value_or(0));
    if (bytes == 0 || bytes > 1024) return Fail("an alignment of shared memory");
    program_.shared_align = std::max(program_.shared_align, bytes);
  }

  void ReadKernel() {
    const std::string_view head = ReadTo('(');
    Kernel kernel;
    kernel.name = std::string(Trim(head));
    for (const std::string_view parameter : Split(ReadTo(')'), ','))
      AddParameter(kernel, parameter);
    for (const std::string_view directive : Split(ReadTo('{'), '\n')) {
      if (directive.starts_with(".maxnreg")) {
        kernel.registers_first =
            static_cast<std::uint32_t>(Number(Trim(directive.substr(8))).value_or(0));
      }
      if (directive.starts_with(".maxntid")) {
        kernel.threads_max = 1;
        for (const std::string_view n : Split(directive.substr(8), ',')) {
          kernel.threads_max *= static_cast<std::uint32_t>(Number(n).value_or(1));
        }
      }
    }
    if (kernel.parameter_bytes > kParameterBytesMax) return Fail("too many parameters");
    scopes_.assign(1, {});
    numbers_.clear();
    others_.clear();
    labels_.clear();
    branches_.clear();
    while (error_.empty() && !scopes_.empty() && SkipSpace()) ReadBody(kernel);
    for (const auto& [index, label] : branches_) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) return Fail("no label \"" + label + "\" in " + kernel.name);
      kernel.code[index].target = found->second;
    }
    if (kernel.code.empty()) return Fail(kernel.name + " has no instructions");
    std::string name = kernel.name;
    if (error_.empty()) program_.kernels.insert_or_assign(std::move(name), std::move(kernel));
  }

  // .param .align 8 .b8 name[40], or .param .u64 name
  void AddParameter(Kernel& kernel, std::string_view text) {
    std::uint32_t align = 0, bytes = 0, count = 1;
    std::string_view name;
    const std::vector<std::string_view> words = Split(text, ' ');
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].empty()) continue;
      if (words[i] == ".align" && i + 1 < words.size()) {
        align = static_cast<std::uint32_t>(Number(words[++i]).value_or(0));
      } else if (words[i][0] == '.' && words[i] != ".param") {
        bytes = BytesOfType(words[i]);
      } else if (words[i][0] != '.') {
        name = words[i];
      }
    }
    if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos) {
      count = static_cast<std::uint32_t>(
          Number(name.substr(bracket + 1, name.find(']') - bracket - 1)).value_or(0));
      name = name.substr(0, bracket);
    }
    if (bytes == 0 || count == 0 || count > kParameterBytesMax || align > 256 || name.empty()) {
      return Fail("a parameter's size");
    }
    if (align == 0) align = bytes;
    const std::uint32_t offset = (kernel.parameter_bytes + align - 1) / align * align;
    kernel.parameters.push_back({std::string(name), offset, bytes * count});
    kernel.parameter_bytes = offset + bytes * count;
  }

  // A brace, a label, a declaration or an instruction.
  void ReadBody(Kernel& kernel) {
    if (text_[at_] == '{') {
      scopes_.emplace_back();
      ++at_;
      return;
    }
    if (text_[at_] == '}') {
      scopes_.pop_back();
      ++at_;
      return;
    }
    const std::string_view word = PeekWord();
    if (at_ + word.size() < text_.size() && text_[at_ + word.size()] == ':' && word[0] != '@' &&
        text_.compare(at_ + word.size(), 2, "::") != 0) {
      labels_[std::string(word)] = static_cast<std::int32_t>(kernel.code.size());
      at_ += word.size() + 1;
      return;
    }
    const std::uint32_t line = Line();
    const std::string_view text = Trim(ReadTo(';'));
    if (text.empty()) return Fail("an instruction is missing");
    if (text.starts_with(".reg")) return Declare(kernel, text.substr(4));
    if (text.starts_with(".pragma")) return;
    if (text.starts_with(".")) return Fail("\"" + std::string(text) + "\" is not known");
    Instruction instruction;
    instruction.line = line;
    instruction.text = std::string(text.substr(0, 160));
    Fill(kernel, instruction, text);
    kernel.code.push_back(std::move(instruction));
  }

  // .b32 %r<40>;  or  .f32 l, h;
  void Declare(Kernel& kernel, std::string_view text) {
    text = Trim(text);
    const std::size_t space = text.find_first_of(" \t");
    for (std::string_view name : Split(text.substr(std::min(space, text.size())), ',')) {
      const std::size_t angle = name.find('<');
      if (angle == std::string_view::npos) {
        scopes_.back()[std::string(name)] = kernel.registers++;
        continue;
      }
      const std::uint64_t count =
          Number(name.substr(angle + 1, name.size() - angle - 2)).value_or(0);
      if (count > kRegistersMax - static_cast<std::uint64_t>(kernel.registers)) {
        return Fail("too many registers");
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        scopes_.back()[std::string(name.substr(0, angle)) + std::to_string(i)] = kernel.registers++;
      }
    }
  }

  // The register of a number, or of a name; made when first asked for.
  std::int32_t RegisterOf(Kernel& kernel, std::string_view text) {
    const std::string name(text);
    if (name.empty()) Fail("an operand is missing");
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    }
    if (const std::optional<std::uint64_t> number = Number(text)) {
      const auto [at, is_new] = numbers_.emplace(*number, kernel.registers);
      if (is_new) kernel.numbers.emplace_back(kernel.registers++, *number);
      return at->second;
    }
    if (name == "_") return kernel.registers++;  // a result that nobody wants
    const auto [at, is_new] = others_.emplace(name, kernel.registers);
    if (is_new) {
      (name.starts_with('%') ? kernel.specials : kernel.names)
          .emplace_back(kernel.registers++, name);
    }
    return at->second;
  }

  Operand OperandOf(Kernel& kernel, std::string_view text) {
    if (!text.starts_with('[')) return {RegisterOf(kernel, text), 0};
    text = Trim(text.substr(1, text.size() - 2));
    const std::size_t plus = text.find('+');
    if (plus == std::string_view::npos) return {RegisterOf(kernel, text), 0};
    const std::optional<std::uint64_t> offset = Number(Trim(text.substr(plus + 1)));
    if (!offset) Fail("an offset that is no number");
    return {RegisterOf(kernel, Trim(text.substr(0, plus))),
            static_cast<std::int32_t>(offset.value_or(0))};
  }

  void Fill(Kernel& kernel, Instruction& instruction, std::string_view text) {
    if (text[0] == '@') {
      instruction.is_guard_negated = text.size() > 1 && text[1] == '!';
      const std::size_t space = text.find_first_of(" \t");
      const std::size_t from = instruction.is_guard_negated ? 2 : 1;
      instruction.guard = RegisterOf(kernel, text.substr(from, space - from));
      text = Trim(text.substr(std::min(space, text.size())));
    }
    const std::size_t space = std::min(text.find_first_of(" \t"), text.size());
    if (text.empty()) return Fail("an instruction is missing");
    Statement statement;
    statement.opcode = std::string(text.substr(0, space));
    for (const std::string_view part : Split(statement.opcode, '.')) {
      statement.parts.emplace_back(part);
    }
    if (statement.parts.empty()) return Fail("\"" + statement.opcode + "\" is no opcode");
    text = Trim(text.substr(space));
    statement.text = text;
    if (statement.parts[0] == "bra") {
      instruction.kind = Instruction::Kind::kBranch;
      branches_.emplace_back(kernel.code.size(), std::string(text));
      return;
    }
    if (statement.opcode == "ret" || statement.opcode == "exit") {
      instruction.kind = Instruction::Kind::kExit;
      return;
    }
    for (std::string_view operand : Split(text, ',')) {
      // {a, b}, or a|b: several registers.
      char separator = '|';
      if (operand.starts_with('{')) {
        separator = ',';
        operand = operand.substr(1, operand.size() - 2);
      }
      const std::vector<std::string_view> items = Split(operand, separator);
      if (items.empty()) return Fail("an operand is missing");
      statement.groups.push_back(items.size());
      for (const std::string_view item : items) {
        instruction.operands.push_back(OperandOf(kernel, item));
      }
    }
    if (instruction.operands.size() > kOperandsMax) return Fail("too many operands");
    for (const auto find : {FindTogether, FindArithmetic, FindMemory, FindMatrix}) {
      instruction.operation = find(statement, instruction);
      if (instruction.operation.execute != nullptr) break;
    }
    if (instruction.operation.execute == nullptr ||
        static_cast<std::size_t>(instruction.operation.operands) != instruction.operands.size()) {
      instruction.kind = Instruction::Kind::kUnknown;
      instruction.operation = {};
    }
  }

  const std::string_view text_;
  Program& program_;
  std::size_t at_ = 0, counted_ = 0;  // where it is; how far lines are counted
  std::uint32_t line_ = 1;
  std::string error_;
  // Of the kernel that is being read.
  std::vector<std::map<std::string, std::int32_t>> scopes_;  // registers' names, by braces
  std::map<std::uint64_t, std::int32_t> numbers_;
  std::map<std::string, std::int32_t> others_;
  std::map<std::string, std::int32_t> labels_;
  std::vector<std::pair<std::size_t, std::string>> branches_;
};

}  // namespace

bool Statement::Has(std::string_view part) const {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

std::string Parse(std::string_view ptx, Program& program) { return Parser(ptx, program).Run(); }

}  // namespace cairn::interpreter
