#ifndef CAIRN_TESTS_BENCH_KERNELS_HOST_MODEL_H_
#define CAIRN_TESTS_BENCH_KERNELS_HOST_MODEL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/host/host_ops.h"
#include "kernels/host/rope_table.h"
#include "tests/bench/kernels_host_team.h"

// A model of SmolLM2-135M's shape with random weights, and its forward pass by a team of threads.

namespace cairn::host::bench {

// Random packed weights: scales small and positive, quants anything.
class Weights {
 public:
  Weights(WeightType type, std::uint32_t n, std::uint32_t k, std::uint32_t seed);
  const PackedMatrix& matrix() const { return matrix_; }

 private:
  Buffer<std::byte> bytes_;
  PackedMatrix matrix_;
};

struct Layer {
  explicit Layer(std::uint32_t seed);
  Weights q, k, v, o, gate, up, down;
};

inline constexpr std::uint32_t kLayers = 30, kWidth = 576, kFfn = 1536, kHeads = 9, kKvHeads = 3,
                               kHeadDim = 64;
inline constexpr std::uint32_t kVocabulary = 49152, kRowsMax = 512, kTokensMax = 2560,
                               kBlockTokens = 16;

struct Activations {
  Buffer<float> x{kRowsMax * kWidth}, normed{kRowsMax * kWidth}, q{kRowsMax * kWidth},
      k{kRowsMax * 192}, v{kRowsMax * 192}, mixed{kRowsMax * kWidth}, o{kRowsMax * kWidth},
      gate{kRowsMax * kFfn}, up{kRowsMax * kFfn}, logits{kVocabulary};
  void FillX();  // anew, always with the same values
};

struct Model {
  static Model& Get();  // one for all benches, made by the first
  // Of `rows` tokens from `first` on, all of one request; from a.q to a.mixed.
  AttentionCall Attention(std::uint32_t layer, std::uint32_t first, std::uint32_t rows,
                          const Activations& a) const;

  std::vector<std::unique_ptr<Layer>> layers;
  Weights head{WeightType::kQ8_0, kVocabulary, kWidth, 1};
  RopeTable rope{{.rotary_dim = 64, .max_positions = kTokensMax, .theta = 100000.0}};
  KvShape shape{kLayers, kKvHeads, kHeadDim, kBlockTokens, KvDtype::kBf16};
  Buffer<std::byte> pool{KvBlockBytes(shape) * (kTokensMax / kBlockTokens)};
  std::vector<std::byte*> blocks;
  std::vector<float> norm = std::vector<float>(kWidth, 1.0f);

 private:
  Model();
};

// One step over `rows` tokens from `first` on, all of one request; one row of logits. Its arguments
// outlive it.
class Step {
 public:
  Step(const HostOps& ops, Model& model, Activations& activations, Team& team, std::uint32_t first,
       std::uint32_t rows);
  void Run();

 private:
  std::size_t parts() const { return static_cast<std::size_t>(team_.size()); }
  void Multiply(std::size_t part, const Weights& w, const float* x, std::uint32_t rows, float* y);
  void Norm(std::size_t part);
  void AddRows(std::size_t part);
  void StoreKv(std::size_t part, std::uint32_t layer);
  void Attend(std::size_t part, std::uint32_t layer);
  void Gate(std::size_t part, const Layer& layer);
  void RunPart(std::size_t part);

  const HostOps& ops_;
  Model& m_;
  Activations& a_;
  Team& team_;
  const std::uint32_t first_, rows_;
  const std::size_t scratch_bytes_;
  Buffer<std::byte> scratch_;
  Buffer<float> partials_;
  std::atomic<std::uint32_t> next_{0};
};

}  // namespace cairn::host::bench

#endif  // CAIRN_TESTS_BENCH_KERNELS_HOST_MODEL_H_
