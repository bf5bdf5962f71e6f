#ifndef CAIRN_KERNELS_INTERPRETER_MEMORY_H_
#define CAIRN_KERNELS_INTERPRETER_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>

namespace cairn::interpreter {

// What a kernel may touch of the process's memory: it uses the host's addresses. Threads: one at a
// time.
class Memory {
 public:
  // False: it overlaps what is there.
  bool Add(const void* bytes, std::size_t size, bool is_writable);
  // False: no range begins there.
  bool Remove(const void* bytes);
  bool Allows(std::uint64_t address, std::size_t size, bool writes) const;

 private:
  struct Range {
    std::uint64_t end = 0;
    bool is_writable = false;
  };
  std::map<std::uint64_t, Range> ranges_;  // by their begin
  mutable std::uint64_t begin_ = 0;        // the last that was found
  mutable Range range_;
};

}  // namespace cairn::interpreter
#endif  // CAIRN_KERNELS_INTERPRETER_MEMORY_H_
