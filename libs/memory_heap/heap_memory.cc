#include "libs/memory_heap/heap_memory.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "libs/base/limits.h"
#include "libs/base/units.h"

namespace cairn {
namespace {

constexpr std::uint64_t kHeapMagic = 0x70616568'6e726961;  // "airnheap"

// What a grant's local() points at. The magic tells a grant of ours from one of another source.
struct HeapPiece {
  HeapPiece(std::uint64_t bytes, bool sealed, bool whole)
      : size(bytes), is_sealed(sealed), is_whole(whole) {
    data = static_cast<std::byte*>(std::aligned_alloc(kPieceBytes, RoundUp(bytes, kPieceBytes)));
    if (data != nullptr) std::memset(data, 0, RoundUp(bytes, kPieceBytes));
  }
  ~HeapPiece() { std::free(data); }
  HeapPiece(const HeapPiece&) = delete;
  HeapPiece& operator=(const HeapPiece&) = delete;

  const std::uint64_t magic = kHeapMagic;
  const std::uint64_t size;
  const bool is_sealed;
  const bool is_whole;
  std::byte* data = nullptr;
};

class HeapOwnedMemory : public OwnedMemory {
 public:
  explicit HeapOwnedMemory(std::shared_ptr<HeapPiece> piece) : piece_(std::move(piece)) {}
  absl::Span<std::byte> bytes() const override { return {piece_->data, piece_->size}; }
  absl::StatusOr<MemoryGrant> Grant() const override { return MemoryGrant::OfLocal(piece_); }
  std::uint64_t page_bytes() const override { return kPieceBytes; }

 private:
  const std::shared_ptr<HeapPiece> piece_;
};

class HeapPeerMemory : public PeerMemory {
 public:
  explicit HeapPeerMemory(std::shared_ptr<HeapPiece> piece) : piece_(std::move(piece)) {}
  absl::Span<const std::byte> bytes() const override { return {piece_->data, piece_->size}; }

 private:
  const std::shared_ptr<HeapPiece> piece_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OwnedMemory>> HeapMemorySource::Create(absl::string_view name,
                                                                      std::uint64_t bytes) {
  if (bytes == 0 || bytes > limits::kPoolBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": cannot make ", bytes, " bytes"));
  }
  auto piece = std::make_shared<HeapPiece>(bytes, /*sealed=*/true, /*whole=*/true);
  if (piece->data == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(name, ": no memory for ", bytes, " bytes"));
  }
  return std::make_unique<HeapOwnedMemory>(std::move(piece));
}

absl::StatusOr<std::unique_ptr<PeerMemory>> HeapMemorySource::Map(MemoryGrant grant,
                                                                  std::uint64_t bytes_max) {
  auto piece = std::static_pointer_cast<HeapPiece>(grant.local());
  if (piece == nullptr || piece->magic != kHeapMagic) {
    return absl::InvalidArgumentError("the grant is of no memory");
  }
  if (piece->size == 0 || piece->size > bytes_max) {
    return absl::InvalidArgumentError(absl::StrCat("granted memory has ", piece->size,
                                                   " bytes, at most ", bytes_max, " allowed"));
  }
  if (!piece->is_sealed) return absl::InvalidArgumentError("granted memory is not sealed");
  if (!piece->is_whole) return absl::InvalidArgumentError("granted memory is not fully allocated");
  return std::make_unique<HeapPeerMemory>(std::move(piece));
}

MemoryGrant FlawedHeapGrant(std::uint64_t bytes, HeapFlaw flaw) {
  return MemoryGrant::OfLocal(
      std::make_shared<HeapPiece>(bytes, flaw != HeapFlaw::kUnsealed, flaw != HeapFlaw::kSparse));
}

}  // namespace cairn
