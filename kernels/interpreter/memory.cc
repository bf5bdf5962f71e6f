#include "kernels/interpreter/memory.h"

#include <iterator>

namespace cairn::interpreter {

bool Memory::Add(const void* bytes, std::size_t size, bool is_writable) {
  const auto begin = reinterpret_cast<std::uint64_t>(bytes);
  const auto next = ranges_.upper_bound(begin);
  if (next != ranges_.end() && next->first < begin + size) return false;
  if (next != ranges_.begin() && std::prev(next)->second.end > begin) return false;
  ranges_[begin] = {begin + size, is_writable};
  return true;
}

bool Memory::Remove(const void* bytes) {
  range_ = {};
  begin_ = 0;
  return ranges_.erase(reinterpret_cast<std::uint64_t>(bytes)) == 1;
}

bool Memory::Allows(std::uint64_t address, std::size_t size, bool writes) const {
  if (address < begin_ || address >= range_.end) {
    auto found = ranges_.upper_bound(address);
    if (found == ranges_.begin()) return false;
    --found;
    begin_ = found->first;
    range_ = found->second;
  }
  return address >= begin_ && address < range_.end && size <= range_.end - address &&
         (range_.is_writable || !writes);
}

}  // namespace cairn::interpreter
