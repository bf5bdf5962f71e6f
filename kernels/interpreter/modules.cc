#include "kernels/interpreter/modules.h"

#include <cstring>
#include <utility>

namespace cairn::interpreter {
namespace {

// What stands before device code in a program. Not documented but for the first
// (fatbinary_section.h of the toolkit); read from nvcc 13.0's output.
struct Wrapper {
  std::uint32_t magic;  // 0x466243b1
  std::uint32_t version;
  const std::byte* data;
  const void* file_name;
};
struct BinaryHeader {
  std::uint32_t magic;  // 0xba55ed50
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // behind the header
};
struct EntryHeader {
  std::uint16_t kind;  // 1: PTX, 2: machine code
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;  // behind the header
  std::uint32_t compressed_bytes;
};
constexpr std::uint32_t kWrapperMagic = 0x466243b1, kBinaryMagic = 0xba55ed50;
constexpr std::uint16_t kPtx = 1;

template <class T>
T At(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

std::string_view PtxOf(const void* wrapper, std::string& error) {
  const auto outer = At<Wrapper>(static_cast<const std::byte*>(wrapper));
  const auto binary = At<BinaryHeader>(outer.data);
  if (outer.magic != kWrapperMagic || binary.magic != kBinaryMagic) {
    error = "device code of a form that is not known";
    return {};
  }
  const std::byte* at = outer.data + binary.header_bytes;
  const std::byte* const end = at + binary.bytes;
  while (at < end) {
    const auto entry = At<EntryHeader>(at);
    if (entry.kind == kPtx && entry.compressed_bytes == 0) {
      return {reinterpret_cast<const char*>(at + entry.header_bytes), entry.bytes};
    }
    at += entry.header_bytes + entry.bytes;
  }
  error = "a file without plain PTX (nvcc -arch=compute_90a --compress-mode=none)";
  return {};
}

}  // namespace

Module* Modules::Add(const void* wrapper) {
  modules_.push_back(std::make_unique<Module>());
  modules_.back()->text = PtxOf(wrapper, modules_.back()->error);
  return modules_.back().get();
}

void Modules::Name(const void* host_function, Module* module, std::string kernel) {
  named_[host_function] = {module, std::move(kernel)};
}

Modules::Found Modules::Find(const void* host_function) {
  const auto named = named_.find(host_function);
  if (named == named_.end()) return {.error = "no kernel of this program"};
  Module& module = *named->second.module;
  if (!std::exchange(module.is_parsed, true) && module.error.empty()) {
    module.error = Parse(module.text, module.program);
  }
  if (!module.error.empty()) return {.error = module.error};
  const auto kernel = module.program.kernels.find(named->second.kernel);
  if (kernel == module.program.kernels.end()) return {.error = "no PTX of " + named->second.kernel};
  return {&module.program, &kernel->second, ""};
}

}  // namespace cairn::interpreter
