#include "tests/bench/kernels_host_model.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace cairn::host::bench {

Weights::Weights(WeightType type, std::uint32_t n, std::uint32_t k, std::uint32_t seed)
    : bytes_(PackedBytes({type, n, k, nullptr})) {
  std::mt19937 rng(seed);
  const std::size_t row_group = BytesPer32(type);
  std::vector<unsigned char> file(static_cast<std::size_t>(n) * RowBytes(type, k));
  for (std::size_t i = 0; i < file.size(); ++i) file[i] = static_cast<unsigned char>(rng());
  for (std::size_t at = 0; at < file.size() && IsQuantised(type); at += row_group) {
    const std::uint16_t d = 0x1400, m = 0x9400;  // about 0.001
    std::memcpy(&file[at], &d, 2);
    if (type == WeightType::kQ4_1) std::memcpy(&file[at + 2], &m, 2);
  }
  if (!IsQuantised(type)) std::memset(file.data(), 0, file.size());
  PackPanels({type, n, k, file.data()}, 0, PanelCount(n), bytes_.get());
  matrix_ = {type, n, k, bytes_.get()};
}

Layer::Layer(std::uint32_t seed)
    : q(WeightType::kQ4_1, 576, 576, seed),
      k(WeightType::kQ4_1, 192, 576, seed + 1),
      v(WeightType::kQ4_1, 192, 576, seed + 2),
      o(WeightType::kQ4_1, 576, 576, seed + 3),
      gate(WeightType::kQ4_1, 1536, 576, seed + 4),
      up(WeightType::kQ4_1, 1536, 576, seed + 5),
      down(WeightType::kQ4_1, 576, 1536, seed + 6) {}

void Activations::FillX() {
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < kRowsMax * kWidth; ++i) x.get()[i] = normal(rng);
}

Model::Model() {
  for (std::uint32_t i = 0; i < kLayers; ++i) layers.push_back(std::make_unique<Layer>(10 * i));
  for (std::uint32_t i = 0; i < kTokensMax / kBlockTokens; ++i)
    blocks.push_back(pool.get() + i * KvBlockBytes(shape));
}

Model& Model::Get() {
  static Model model;
  return model;
}

AttentionCall Model::Attention(std::uint32_t layer, std::uint32_t first, std::uint32_t rows,
                               const Activations& a) const {
  return {.shape = &shape,
          .rope = &rope.view(),
          .layer = layer,
          .q_heads = kHeads,
          .first_row = first,
          .own_blocks = blocks.data(),
          .rows = rows,
          .q = a.q.get(),
          .q_stride = kWidth,
          .out = a.mixed.get(),
          .out_stride = kWidth};
}

Step::Step(const HostOps& ops, Model& model, Activations& activations, Team& team,
           std::uint32_t first, std::uint32_t rows)
    : ops_(ops),
      m_(model),
      a_(activations),
      team_(team),
      first_(first),
      rows_(rows),
      scratch_bytes_(AttentionScratchBytes(model.shape, kHeads)),
      scratch_(scratch_bytes_ * static_cast<std::size_t>(team.size())),
      partials_(kHeads * 64 * PartialFloats(model.shape)) {}

void Step::Run() {
  team_.Run([this](int part) { RunPart(static_cast<std::size_t>(part)); });
}

void Step::Multiply(std::size_t part, const Weights& w, const float* x, std::uint32_t rows,
                    float* y) {
  const Range r = PartOf(PanelCount(w.matrix().n), part, parts(), 2);
  ops_.gemm({&w.matrix(), x, w.matrix().k, rows, y, w.matrix().n}, r.begin, r.end);
}

void Step::Norm(std::size_t part) {
  const Range r = PartOf(rows_, part, parts());
  ops_.rms_norm(a_.x.get(), m_.norm.data(), 1e-5f, kWidth, a_.normed.get(),
                static_cast<std::uint32_t>(r.begin), static_cast<std::uint32_t>(r.end));
}

void Step::AddRows(std::size_t part) {
  const Range r = PartOf(rows_, part, parts());
  ops_.add(a_.x.get() + r.begin * kWidth, a_.o.get() + r.begin * kWidth,
           (r.end - r.begin) * kWidth);
}

void Step::StoreKv(std::size_t part, std::uint32_t layer) {
  for (std::size_t r = part; r < rows_; r += parts()) {
    const std::uint32_t token = first_ + static_cast<std::uint32_t>(r);
    ops_.store_kv({&m_.shape, layer, token % kBlockTokens, m_.blocks[token / kBlockTokens],
                   a_.k.get() + r * 192, a_.v.get() + r * 192});
  }
}

void Step::Attend(std::size_t part, std::uint32_t layer) {
  const AttentionCall call = m_.Attention(layer, first_, rows_, a_);
  std::byte* scratch = scratch_.get() + part * scratch_bytes_;
  if (rows_ == 1) {
    const std::size_t splits = SplitCount(call);
    for (std::size_t item = part; item < kKvHeads * splits; item += parts()) {
      const std::size_t split = item / kKvHeads;
      ops_.attend_splits(call, item % kKvHeads, split, split + 1, scratch, partials_.get());
    }
    team_.Wait();
    for (std::size_t h = part; h < kKvHeads; h += parts())
      ops_.fold_splits(call, static_cast<std::uint32_t>(h), partials_.get());
    return;
  }
  const std::uint32_t groups = (rows_ + 63) / 64;
  for (;;) {  // the longest rows first
    const std::uint32_t item = next_.fetch_add(1);
    if (item >= kKvHeads * groups) return;
    const std::uint32_t g = groups - 1 - item / kKvHeads;
    ops_.attend(call, item % kKvHeads, g * 64, std::min(rows_, g * 64 + 64), scratch);
  }
}

void Step::Gate(std::size_t part, const Layer& layer) {
  Multiply(part, layer.gate, a_.normed.get(), rows_, a_.gate.get());
  Multiply(part, layer.up, a_.normed.get(), rows_, a_.up.get());
  const Range r = PartOf(PanelCount(kFfn), part, parts(), 2);  // this thread's own columns
  for (std::uint32_t row = 0; row < rows_; ++row) {
    float* gate = a_.gate.get() + static_cast<std::size_t>(row) * kFfn + r.begin * 16;
    ops_.swiglu(gate, a_.up.get() + static_cast<std::size_t>(row) * kFfn + r.begin * 16, gate,
                (r.end - r.begin) * 16);
  }
}

void Step::RunPart(std::size_t part) {
  for (std::uint32_t l = 0; l < kLayers; ++l) {
    const Layer& w = *m_.layers[l];
    Norm(part);
    team_.Wait();
    Multiply(part, w.q, a_.normed.get(), rows_, a_.q.get());
    Multiply(part, w.k, a_.normed.get(), rows_, a_.k.get());
    Multiply(part, w.v, a_.normed.get(), rows_, a_.v.get());
    if (part == 0) next_ = 0;
    team_.Wait();
    StoreKv(part, l);
    team_.Wait();
    Attend(part, l);
    team_.Wait();
    Multiply(part, w.o, a_.mixed.get(), rows_, a_.o.get());
    team_.Wait();
    AddRows(part);
    Norm(part);
    team_.Wait();
    Gate(part, w);
    team_.Wait();
    Multiply(part, w.down, a_.gate.get(), rows_, a_.o.get());
    team_.Wait();
    AddRows(part);
  }
  team_.Wait();
  if (part == 0)
    ops_.rms_norm(a_.x.get(), m_.norm.data(), 1e-5f, kWidth, a_.normed.get(), rows_ - 1, rows_);
  team_.Wait();
  Multiply(part, m_.head, a_.normed.get() + (rows_ - 1) * kWidth, 1, a_.logits.get());
  team_.Wait();
  if (part == 0) benchmark::DoNotOptimize(ops_.argmax(a_.logits.get(), kVocabulary));
}

}  // namespace cairn::host::bench
