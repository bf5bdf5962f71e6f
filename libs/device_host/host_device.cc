#include "libs/device_host/host_device.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "libs/base/status_macros.h"
#include "libs/base/units.h"
#include "libs/ports/highest_logit.h"
#include "libs/ports/step_check.h"

namespace cairn {
namespace {

constexpr std::uint32_t kInlineRows = 4;  // fewer rows are not worth a section

host::KvShape ToKvShape(const KvLayout& layout) {
  const KvLayout::Shape& shape = layout.shape();
  return {.layers = shape.layers,
          .kv_heads = shape.kv_heads,
          .head_dim = shape.head_dim,
          .block_tokens = shape.block_tokens,
          .dtype = shape.dtype == KvDtype::kBf16 ? host::KvDtype::kBf16 : host::KvDtype::kF32};
}

absl::Status Grow(std::size_t floats, HostBuffer* buffer) {
  if (floats * sizeof(float) <= buffer->bytes()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(*buffer, HostBuffer::Allocate(floats * sizeof(float)));
  return absl::OkStatus();
}

}  // namespace

struct HostDevice::Buffers {
  // One allocation, cut into the activations of `rows` rows; grown, never shrunk.
  absl::Status Reserve(std::size_t wanted, const LlamaConfig& c) {
    if (wanted <= rows) return absl::OkStatus();
    const std::size_t q_width = std::size_t{c.q_heads} * c.head_dim;
    const std::size_t kv_width = std::size_t{c.kv_heads} * c.head_dim;
    const std::size_t widths[] = {c.hidden, c.hidden, c.hidden, q_width, kv_width,
                                  kv_width, q_width,  c.ffn,    c.ffn};
    float** const targets[] = {&x, &normed, &delta, &q, &k, &v, &attended, &gate, &up};
    std::size_t floats = 0;
    for (const std::size_t width : widths) floats += RoundUp(width * wanted, 16);
    CAIRN_ASSIGN_OR_RETURN(memory, HostBuffer::Allocate(floats * sizeof(float)));
    float* at = memory.floats();
    for (std::size_t i = 0; i < std::size(widths); ++i) {
      *targets[i] = at;
      at += RoundUp(widths[i] * wanted, 16);
    }
    rows = wanted;
    return absl::OkStatus();
  }

  std::size_t rows = 0;
  HostBuffer memory;
  float *x = nullptr, *normed = nullptr, *delta = nullptr;
  float *q = nullptr, *k = nullptr, *v = nullptr, *attended = nullptr;
  float *gate = nullptr, *up = nullptr;
  HostBuffer scratch;  // of attention, `scratch_bytes` for each thread
  std::size_t scratch_bytes = 0;
  HostBuffer partials;
  HostBuffer logits;  // of rows whose token alone is wanted
};

HostDevice::HostDevice(const host::HostOps& ops, const LlamaConfig& config, const KvLayout& layout,
                       std::uint32_t threads)
    : ops_(ops),
      config_(config),
      layout_(layout),
      shape_{.vocabulary = config.vocabulary, .positions_max = config.positions_max, .spans = true},
      limits_{.kv = ToKvShape(layout),
              .vocabulary = config.vocabulary,
              .positions_max = config.positions_max},
      threads_(threads),
      buffers_(std::make_unique<Buffers>()) {}

HostDevice::~HostDevice() = default;

absl::Status HostDevice::CheckTier(const std::string& tier) {
  if (host::SelectHostOps(tier) != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "kernel tier \"", tier, "\" is unknown or not for this CPU; there are ",
      absl::StrJoin(host::HostOpsNames(), ", ",
                    [](std::string* out, std::string_view name) { out->append(name); })));
}

absl::StatusOr<std::unique_ptr<HostDevice>> HostDevice::Create(const GgufFile& file,
                                                               const Options& options) {
  CAIRN_RETURN_IF_ERROR(CheckTier(options.tier));
  const host::HostOps* ops = host::SelectHostOps(options.tier);
  CAIRN_ASSIGN_OR_RETURN(const LlamaConfig config, ReadLlamaConfig(file));
  CAIRN_ASSIGN_OR_RETURN(const KvLayout layout,
                         KvLayout::Create({.layers = config.layers,
                                           .kv_heads = config.kv_heads,
                                           .head_dim = config.head_dim,
                                           .block_tokens = options.block_tokens,
                                           .dtype = options.kv_dtype}));
  const host::KvShape kv = ToKvShape(layout);
  if (!host::AttentionSupports(kv, config.q_heads, config.rotary_dim)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the CPU kernels do not serve ", config.q_heads, " query and ", config.kv_heads,
        " KV heads of ", config.head_dim, " with blocks of ", options.block_tokens, " tokens"));
  }
  std::unique_ptr<HostDevice> device(new HostDevice(*ops, config, layout, options.threads));
  CAIRN_ASSIGN_OR_RETURN(device->weights_, LoadLlamaWeights(file, config, device->threads_));
  const host::RopeTable::Options rope{
      .rotary_dim = config.rotary_dim,
      .max_positions = config.positions_max,
      .theta = config.rope_theta,
      .layout = host::RotaryLayout::kAdjacent,
      .linear_scale = config.rope_linear_scale,
      .frequency_divisors = device->weights_.frequency_divisors.empty()
                                ? nullptr
                                : device->weights_.frequency_divisors.data()};
  if (!host::RopeTable::Valid(rope)) {
    return absl::InvalidArgumentError("rotation parameters out of range");
  }
  device->rope_ = std::make_unique<host::RopeTable>(rope);
  Buffers& buffers = *device->buffers_;
  buffers.scratch_bytes = RoundUp(host::AttentionScratchBytes(kv, config.q_heads), 64);
  CAIRN_ASSIGN_OR_RETURN(buffers.scratch,
                         HostBuffer::Allocate(buffers.scratch_bytes * options.threads));
  return device;
}

std::string HostDevice::numerics() const {
  return absl::StrCat(ops_.numerics,
                      ",kv=", layout_.shape().dtype == KvDtype::kBf16 ? "bf16" : "f32",
                      ",rope=", absl::Hex(rope_->hash(), absl::kZeroPad16));
}

absl::Status HostDevice::Run(absl::Span<const StepChunk> chunks, StepOutput output) {
  CAIRN_ASSIGN_OR_RETURN(HostStep step, PrepareHostStep(chunks, limits_));
  CAIRN_RETURN_IF_ERROR(CheckOutput(chunks, {.vocabulary = config_.vocabulary}, output));
  if (step.rows.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(buffers_->Reserve(step.rows.size(), config_));
  for (HostStep::Chunk& chunk : step.chunks) {
    chunk.call.shape = &limits_.kv;
    chunk.call.rope = &rope_->view();
    chunk.call.q_heads = config_.q_heads;
    chunk.call.before = chunk.before.data();
    chunk.call.before_count = chunk.before.size();
    chunk.call.q_stride = chunk.call.out_stride = std::size_t{config_.q_heads} * config_.head_dim;
    chunk.call.q = buffers_->q + chunk.first * chunk.call.q_stride;
    chunk.call.out = buffers_->attended + chunk.first * chunk.call.out_stride;
  }
  CutAttention(limits_.kv.kv_heads, &step);
  CAIRN_RETURN_IF_ERROR(Grow(step.partial_floats, &buffers_->partials));
  CAIRN_RETURN_IF_ERROR(Grow(step.token_rows.size() * config_.vocabulary, &buffers_->logits));
  Embed(step);
  for (std::uint32_t i = 0; i < config_.layers; ++i) Layer(weights_.layers[i], i, step);
  Head(step, output);
  return absl::OkStatus();
}

void HostDevice::ForRows(std::uint32_t rows,
                         absl::FunctionRef<void(std::uint32_t, std::uint32_t)> range) {
  if (rows < kInlineRows) return range(0, rows);
  threads_.Run([&](std::uint32_t part) {
    const host::Range mine = host::PartOf(rows, part, threads_.threads());
    range(static_cast<std::uint32_t>(mine.begin), static_cast<std::uint32_t>(mine.end));
  });
}

host::Range HostDevice::Gemm(const host::PackedMatrix& weights, const float* x, std::uint32_t rows,
                             float* y, std::uint32_t part) {
  const host::GemmCall call{.weights = &weights,
                            .x = x,
                            .x_stride = weights.k,
                            .rows = rows,
                            .y = y,
                            .y_stride = weights.n};
  const host::Range mine = host::PartOf(host::PanelCount(weights.n), part, threads_.threads(), 2);
  if (mine.begin < mine.end) ops_.gemm(call, mine.begin, mine.end);
  return mine;
}

void HostDevice::Embed(const HostStep& step) {
  ForRows(static_cast<std::uint32_t>(step.rows.size()),
          [&](std::uint32_t begin, std::uint32_t end) {
            for (std::uint32_t r = begin; r < end; ++r) {
              host::DequantiseRow(weights_.embedding, step.rows[r].token,
                                  buffers_->x + std::size_t{r} * config_.hidden);
            }
          });
}

void HostDevice::Layer(const LlamaLayer& layer, std::uint32_t index, HostStep& step) {
  Buffers& b = *buffers_;
  const auto rows = static_cast<std::uint32_t>(step.rows.size());
  ForRows(rows, [&](std::uint32_t begin, std::uint32_t end) {
    ops_.rms_norm(b.x, layer.attention_norm.data(), config_.norm_epsilon, config_.hidden, b.normed,
                  begin, end);
  });
  threads_.Run([&](std::uint32_t part) {
    Gemm(layer.q, b.normed, rows, b.q, part);
    Gemm(layer.k, b.normed, rows, b.k, part);
    Gemm(layer.v, b.normed, rows, b.v, part);
  });
  StoreKv(index, step);
  Attend(index, step);
  threads_.Run([&](std::uint32_t part) { Gemm(layer.output, b.attended, rows, b.delta, part); });
  ForRows(rows, [&](std::uint32_t begin, std::uint32_t end) {
    const std::size_t at = std::size_t{begin} * config_.hidden;
    ops_.add(b.x + at, b.delta + at, std::size_t{end - begin} * config_.hidden);
    ops_.rms_norm(b.x, layer.ffn_norm.data(), config_.norm_epsilon, config_.hidden, b.normed, begin,
                  end);
  });
  FeedForward(layer, rows);
}

void HostDevice::StoreKv(std::uint32_t layer, const HostStep& step) {
  const std::size_t width = std::size_t{config_.kv_heads} * config_.head_dim;
  ForRows(static_cast<std::uint32_t>(step.rows.size()),
          [&](std::uint32_t begin, std::uint32_t end) {
            for (std::uint32_t r = begin; r < end; ++r) {
              ops_.store_kv({.shape = &limits_.kv,
                             .layer = layer,
                             .slot = step.rows[r].slot,
                             .block = step.rows[r].block,
                             .k = buffers_->k + r * width,
                             .v = buffers_->v + r * width});
            }
          });
}

void HostDevice::Attend(std::uint32_t layer, HostStep& step) {
  for (HostStep::Chunk& chunk : step.chunks) chunk.call.layer = layer;
  std::atomic<std::size_t> next{0};  // items differ in size, so threads take them as they come
  threads_.Run([&](std::uint32_t part) {
    std::byte* scratch = buffers_->scratch.data() + part * buffers_->scratch_bytes;
    for (std::size_t i = next++; i < step.items.size(); i = next++) {
      const HostStep::Item& item = step.items[i];
      const HostStep::Chunk& chunk = step.chunks[item.chunk];
      if (chunk.is_split) {
        ops_.attend_splits(chunk.call, item.kv_head, item.begin, item.end, scratch,
                           buffers_->partials.floats() + chunk.partials_at);
      } else {
        ops_.attend(chunk.call, item.kv_head, item.begin, item.end, scratch);
      }
    }
  });
  for (const HostStep::Item& fold : step.folds) {
    const HostStep::Chunk& chunk = step.chunks[fold.chunk];
    ops_.fold_splits(chunk.call, fold.kv_head, buffers_->partials.floats() + chunk.partials_at);
  }
}

void HostDevice::FeedForward(const LlamaLayer& layer, std::uint32_t rows) {
  Buffers& b = *buffers_;
  threads_.Run([&](std::uint32_t part) {
    Gemm(layer.gate, b.normed, rows, b.gate, part);
    const host::Range panels = Gemm(layer.up, b.normed, rows, b.up, part);
    const std::size_t begin = panels.begin * host::kPanelColumns;
    const std::size_t end = std::min<std::size_t>(panels.end * host::kPanelColumns, config_.ffn);
    for (std::uint32_t r = 0; r < rows && begin < end; ++r) {  // the columns that this part made
      const std::size_t at = std::size_t{r} * config_.ffn + begin;
      ops_.swiglu(b.gate + at, b.up + at, b.gate + at, end - begin);
    }
  });
  threads_.Run([&](std::uint32_t part) { Gemm(layer.down, b.gate, rows, b.delta, part); });
  ForRows(rows, [&](std::uint32_t begin, std::uint32_t end) {
    const std::size_t at = std::size_t{begin} * config_.hidden;
    ops_.add(b.x + at, b.delta + at, std::size_t{end - begin} * config_.hidden);
  });
}

void HostDevice::Head(const HostStep& step, const StepOutput& output) {
  Buffers& b = *buffers_;
  const auto with_logits = static_cast<std::uint32_t>(step.logit_rows.size());
  const auto with_token = static_cast<std::uint32_t>(step.token_rows.size());
  if (with_logits + with_token == 0) return;
  float* gathered = b.delta;
  for (const std::vector<std::uint32_t>* rows : {&step.logit_rows, &step.token_rows}) {
    for (const std::uint32_t row : *rows) {
      std::copy_n(b.x + std::size_t{row} * config_.hidden, config_.hidden, gathered);
      gathered += config_.hidden;
    }
  }
  ops_.rms_norm(b.delta, weights_.final_norm.data(), config_.norm_epsilon, config_.hidden, b.normed,
                0, with_logits + with_token);
  const float* for_tokens = b.normed + std::size_t{with_logits} * config_.hidden;
  threads_.Run([&](std::uint32_t part) {
    if (with_logits > 0) Gemm(weights_.head, b.normed, with_logits, output.logits.data(), part);
    if (with_token > 0) Gemm(weights_.head, for_tokens, with_token, b.logits.floats(), part);
  });
  for (std::uint32_t i = 0; i < with_token; ++i) {
    output.tokens[i] =
        HighestLogit({b.logits.floats() + std::size_t{i} * config_.vocabulary, config_.vocabulary});
  }
}

}  // namespace cairn
