#ifndef CAIRN_LIBS_DEVICE_CUDA_MEMORY_PIECES_H_
#define CAIRN_LIBS_DEVICE_CUDA_MEMORY_PIECES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace cairn {

// Whether all of [at, at + bytes) lies in `memory`, and `at` does where that is nothing.
bool Contains(absl::Span<const std::byte> memory, const std::byte* at, std::size_t bytes);

// MemoryPieces finds the piece of memory that an address is in: of an arena's, a handful.
// Pieces do not overlap. Threads: any, while nobody assigns.
class MemoryPieces {
 public:
  MemoryPieces() = default;
  // In any order; those of no bytes are left out.
  explicit MemoryPieces(std::vector<absl::Span<const std::byte>> pieces);

  std::size_t size() const { return pieces_.size(); }
  absl::Span<const std::byte> operator[](std::size_t i) const { return pieces_[i]; }
  // The index of the piece that contains all of [at, at + bytes). Not one that ends inside of it,
  // though another piece may begin there: each is registered, and mapped, by itself.
  std::optional<std::size_t> Find(const std::byte* at, std::size_t bytes) const;

 private:
  std::vector<absl::Span<const std::byte>> pieces_;  // by address
};

}  // namespace cairn
#endif  // CAIRN_LIBS_DEVICE_CUDA_MEMORY_PIECES_H_
