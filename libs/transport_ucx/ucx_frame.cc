#include "libs/transport_ucx/ucx_frame.h"

#include "libs/base/bytes.h"
#include "libs/base/limits.h"

namespace cairn {
namespace {

constexpr std::uint32_t kFrameMagic = 0x314e5243;  // "CRN1"
constexpr absl::string_view kAddressTag = "cairn-ucx-1";

}  // namespace

std::string EncodeFrameHeader(const FrameHeader& header, absl::string_view bulk_header) {
  ByteWriter writer;
  writer.Put(kFrameMagic);
  writer.Put(header.kind);
  writer.Put(header.type);
  writer.Put(std::uint16_t{0});
  writer.Put(header.sequence);
  writer.Put(header.token);
  writer.PutBytes(bulk_header);
  return std::move(writer).Take();
}

std::optional<FrameHeader> DecodeFrameHeader(absl::string_view bytes,
                                             absl::string_view* bulk_header) {
  if (bytes.size() > kFrameHeaderBytes + limits::kBulkHeaderBytesMax) return std::nullopt;
  ByteReader reader(bytes);
  const auto magic = reader.Get<std::uint32_t>();
  const auto kind = reader.Get<std::uint8_t>();
  FrameHeader header;
  header.type = reader.Get<std::uint8_t>();
  reader.Get<std::uint16_t>();
  header.sequence = reader.Get<std::uint32_t>();
  header.token = reader.Get<std::uint64_t>();
  *bulk_header = reader.GetBytes(reader.left());
  if (!reader.ok() || magic != kFrameMagic || kind < 1 ||
      kind > static_cast<std::uint8_t>(FrameKind::kBye)) {
    return std::nullopt;
  }
  header.kind = static_cast<FrameKind>(kind);
  return header;
}

std::string EncodeIntroduction(const Introduction& introduction) {
  ByteWriter writer;
  writer.PutLengthPrefixed(introduction.to_instance);
  writer.PutLengthPrefixed(introduction.from_instance);
  writer.Put(introduction.token);
  writer.PutLengthPrefixed(introduction.worker_address);
  return std::move(writer).Take();
}

std::optional<Introduction> DecodeIntroduction(absl::string_view bytes) {
  ByteReader reader(bytes);
  Introduction introduction;
  introduction.to_instance = std::string(reader.GetLengthPrefixed(kInstanceBytes));
  introduction.from_instance = std::string(reader.GetLengthPrefixed(kInstanceBytes));
  introduction.token = reader.Get<std::uint64_t>();
  introduction.worker_address =
      std::string(reader.GetLengthPrefixed(limits::kTransportAddressBytesMax));
  const bool is_sized =
      introduction.from_instance.size() == kInstanceBytes &&
      (introduction.to_instance.empty() || introduction.to_instance.size() == kInstanceBytes);
  if (!reader.at_end() || !is_sized || introduction.token == 0) return std::nullopt;
  return introduction;
}

std::string EncodeUcxAddress(const UcxAddress& address) {
  ByteWriter writer;
  writer.PutBytes(kAddressTag);
  writer.Put(address.profile);
  writer.PutBytes(address.instance);
  writer.PutLengthPrefixed(address.worker_address);
  writer.PutLengthPrefixed(address.socket_address);
  return std::move(writer).Take();
}

std::optional<UcxAddress> DecodeUcxAddress(absl::string_view bytes) {
  if (bytes.size() > limits::kTransportAddressBytesMax) return std::nullopt;
  ByteReader reader(bytes);
  const absl::string_view tag = reader.GetBytes(kAddressTag.size());
  UcxAddress address;
  address.profile = reader.Get<std::uint8_t>();
  address.instance = std::string(reader.GetBytes(kInstanceBytes));
  address.worker_address = std::string(reader.GetLengthPrefixed(bytes.size()));
  address.socket_address = std::string(reader.GetLengthPrefixed(bytes.size()));
  if (!reader.at_end() || tag != kAddressTag) return std::nullopt;
  return address;
}

}  // namespace cairn
