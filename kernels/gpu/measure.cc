#include "kernels/gpu/measure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace cairn::gpu {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

double Spread(const std::vector<double>& values) {
  const double median = Median(values);
  if (median <= 0) return 0;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return (*most - *least) / median;
}

Bound BoundOf(const Work& work, const Ceilings& ceilings) {
  Bound bound;
  const double bytes = work.read + work.written;
  const double rate = work.written * 5 >= bytes ? ceilings.copy : ceilings.read;
  if (bytes > 0 && rate > 0) bound = {bytes / rate, "bytes"};
  if (work.flops > 0 && ceilings.flops > 0 && work.flops / ceilings.flops > bound.seconds) {
    bound = {work.flops / ceilings.flops, "flops"};
  }
  return bound;
}

std::uint32_t RotatedSets(std::uint64_t set_bytes, std::uint64_t l2_bytes,
                          std::uint64_t room_bytes) {
  constexpr std::uint64_t kSetsMax = 4096;
  if (set_bytes == 0) return 1;
  const std::uint64_t wanted = std::max<std::uint64_t>(4 * l2_bytes / set_bytes + 1, 2);
  const std::uint64_t fit = std::max<std::uint64_t>(room_bytes / set_bytes, 1);
  return static_cast<std::uint32_t>(std::min({wanted, fit, kSetsMax}));
}

std::uint32_t RunsInBatch(double seconds, double wanted, std::uint32_t most) {
  if (!(seconds > 0)) return most;
  const double runs = std::ceil(wanted / seconds);
  return static_cast<std::uint32_t>(std::clamp(runs, 1.0, static_cast<double>(most)));
}

std::vector<std::uint32_t> ScatteredSlots(std::uint32_t count) {
  std::uint32_t step = 7919;
  while (count > 0 && std::gcd(step, count) != 1) ++step;
  std::vector<std::uint32_t> slots(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    slots[i] = static_cast<std::uint32_t>(std::uint64_t{i} * step % count);
  }
  return slots;
}

void JsonLine::AddName(std::string_view name) {
  if (text_.size() > 1) text_ += ", ";
  AddString(name);
  text_ += ": ";
}

void JsonLine::AddString(std::string_view value) {
  text_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  text_ += '"';
}

JsonLine& JsonLine::Add(std::string_view name, std::string_view value) {
  AddName(name);
  AddString(value);
  return *this;
}

JsonLine& JsonLine::Add(std::string_view name, double value) {
  AddName(name);
  if (!std::isfinite(value)) {
    text_ += "null";
    return *this;
  }
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.6g", value);
  text_ += digits;
  return *this;
}

JsonLine& JsonLine::Add(std::string_view name, std::uint64_t value) {
  AddName(name);
  text_ += std::to_string(value);
  return *this;
}

JsonLine& JsonLine::Add(std::string_view name, bool value) {
  AddName(name);
  text_ += value ? "true" : "false";
  return *this;
}

}  // namespace cairn::gpu
