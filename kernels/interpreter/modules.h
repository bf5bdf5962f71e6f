#ifndef CAIRN_KERNELS_INTERPRETER_MODULES_H_
#define CAIRN_KERNELS_INTERPRETER_MODULES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/interpreter/program.h"

namespace cairn::interpreter {

// One .cu file's device code. Parsed when a kernel of it is first asked for.
struct Module {
  std::string_view text;
  bool is_parsed = false;
  Program program;
  std::string error;  // why there is no program
};

// Modules is the program's device code, as its start-up code registers it: kernels go by the
// address of their host function. Threads: one at a time.
class Modules {
 public:
  struct Found {
    const Program* program = nullptr;
    const Kernel* kernel = nullptr;
    std::string error;
  };
  // `wrapper`: what nvcc's start-up code hands over. The module lives as long as `this`; one
  // without PTX that is not compressed says so when it is used.
  Module* Add(const void* wrapper);
  void Name(const void* host_function, Module* module, std::string kernel);
  Found Find(const void* host_function);

 private:
  struct Named {
    Module* module = nullptr;
    std::string kernel;
  };
  std::vector<std::unique_ptr<Module>> modules_;
  std::unordered_map<const void*, Named> named_;
};

}  // namespace cairn::interpreter
#endif  // CAIRN_KERNELS_INTERPRETER_MODULES_H_
