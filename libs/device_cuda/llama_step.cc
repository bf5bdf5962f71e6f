#include "libs/device_cuda/llama_step.h"

#include <cmath>

#include "kernels/attention/attend.h"
#include "kernels/attention/decode.h"
#include "kernels/attention/prefill.h"
#include "kernels/attention/prefill_wgmma.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/packed.h"
#include "kernels/rows/elements.h"
#include "kernels/rows/embed.h"
#include "kernels/rows/kv_rows.h"
#include "kernels/rows/norm.h"
#include "kernels/rows/sample.h"
#include "libs/base/status_macros.h"
#include "libs/device_cuda/cuda_memory.h"

namespace cairn {
namespace {

using kernels::LinearOutput;

class Queue {
 public:
  Queue(const LlamaStep& step, rt::Stream& stream)
      : step_(step),
        config_(step.config),
        memory_(step.memory),
        stream_(stream),
        lists_(step.memory.room),
        plan_(step.memory.plan.bytes()) {}

  absl::Status Embed() {
    return ToStatus(kernels::EmbedRows(stream_, {.table = step_.weights.embedding.values,
                                                 .tokens = lists_.Tokens(plan_),
                                                 .x = memory_.x.as<float>(),
                                                 .width = config_.hidden,
                                                 .row_count = lists_.RowCount(plan_),
                                                 .rows_max = step_.shape.rows}));
  }

  absl::Status Layer(std::uint32_t index) {
    const CudaLlamaLayer& layer = step_.weights.layers[index];
    CAIRN_RETURN_IF_ERROR(Norm(layer.attention_norm));
    CAIRN_RETURN_IF_ERROR(Product(layer.q, memory_.normed, memory_.q, LinearOutput::kBf16));
    CAIRN_RETURN_IF_ERROR(Product(layer.kv, memory_.normed, memory_.kv, LinearOutput::kBf16));
    CAIRN_RETURN_IF_ERROR(StoreKv(index));
    CAIRN_RETURN_IF_ERROR(Attend(index));
    CAIRN_RETURN_IF_ERROR(Product(layer.output, memory_.rounded, memory_.x, LinearOutput::kAddF32));
    CAIRN_RETURN_IF_ERROR(Norm(layer.ffn_norm));
    CAIRN_RETURN_IF_ERROR(
        Product(layer.gate_up, memory_.normed, memory_.gate_up, LinearOutput::kF32));
    CAIRN_RETURN_IF_ERROR(ToStatus(
        kernels::SwigluRows(stream_, Elements(memory_.gate_up, memory_.gated, config_.ffn))));
    return Product(layer.down, memory_.gated, memory_.x, LinearOutput::kAddF32);
  }

  absl::Status TakeKv() {
    kernels::TakeKvParams params{.blocks = Blocks(),
                                 .places = lists_.Places(plan_),
                                 .row_count = lists_.RowCount(plan_),
                                 .rows_max = step_.shape.rows};
    if (step_.shape.takes_rows) {
      params.rows = memory_.fresh.as<std::uint16_t>();
    } else {
      params.host_blocks = lists_.Blocks(plan_);
    }
    return ToStatus(kernels::TakeKv(stream_, params));
  }

  absl::Status Head() {
    if (step_.shape.logit_rows == 0) return absl::OkStatus();
    kernels::NormParams norm = NormOf(step_.weights.final_norm);
    norm.picked = lists_.LogitRows(plan_);
    norm.row_count = lists_.LogitRowCount(plan_);
    norm.rows_max = step_.shape.logit_rows;
    CAIRN_RETURN_IF_ERROR(ToStatus(kernels::NormRows(stream_, norm)));
    CAIRN_RETURN_IF_ERROR(Multiply(step_.weights.head, memory_.normed, memory_.logits,
                                   LinearOutput::kF32, norm.row_count, norm.rows_max));
    if (!step_.shape.has_tokens) return absl::OkStatus();
    return ToStatus(kernels::SummarizeLogits(
        stream_, {.logits = memory_.logits.as<float>(),
                  .summaries = memory_.summaries.as<kernels::LogitSummary>(),
                  .vocabulary = config_.vocabulary,
                  .row_count = norm.row_count,
                  .rows_max = norm.rows_max}));
  }

 private:
  kernels::NormParams NormOf(const float* weight) const {
    return {.x = memory_.x.as<float>(),
            .weight = weight,
            .y = memory_.normed.as<std::uint16_t>(),
            .width = config_.hidden,
            .epsilon = config_.norm_epsilon,
            .row_count = lists_.RowCount(plan_),
            .rows_max = step_.shape.rows};
  }
  absl::Status Norm(const float* weight) {
    return ToStatus(kernels::NormRows(stream_, NormOf(weight)));
  }

  absl::Status Product(const CudaMatrix& matrix, const rt::Buffer& x, const rt::Buffer& y,
                       LinearOutput output) {
    return Multiply(matrix, x, y, output, lists_.RowCount(plan_), step_.shape.rows);
  }
  absl::Status Multiply(const CudaMatrix& matrix, const rt::Buffer& x, const rt::Buffer& y,
                        LinearOutput output, const std::uint32_t* row_count,
                        std::uint32_t rows_max) {
    if (matrix.packed != nullptr) {
      return ToStatus(kernels::MultiplyPacked(stream_, {.x = x.as<std::uint16_t>(),
                                                        .packed = matrix.packed,
                                                        .y = y.bytes(),
                                                        .n = matrix.n,
                                                        .k = matrix.k,
                                                        .output = output,
                                                        .row_count = row_count,
                                                        .rows_max = rows_max,
                                                        .partials = memory_.partials.as<float>(),
                                                        .sm_count = step_.multiprocessors}));
    }
    return ToStatus(kernels::Multiply(stream_, {.x = x.as<std::uint16_t>(),
                                                .w = matrix.values,
                                                .y = y.bytes(),
                                                .n = matrix.n,
                                                .k = matrix.k,
                                                .output = output,
                                                .row_count = row_count,
                                                .rows_max = rows_max,
                                                .partials = memory_.partials.as<float>()}));
  }

  kernels::ElementsParams Elements(const rt::Buffer& x, const rt::Buffer& y,
                                   std::uint32_t width) const {
    return {.x = x.as<float>(),
            .y = y.as<std::uint16_t>(),
            .width = width,
            .row_count = lists_.RowCount(plan_),
            .rows_max = step_.shape.rows};
  }

  kernels::KvBlocks Blocks() const {
    return {.pool = memory_.pool.bytes(),
            .block_bytes = step_.layout.block_bytes(),
            .block_tokens = step_.layout.shape().block_tokens,
            .kv_heads = config_.kv_heads,
            .head_dim = config_.head_dim,
            .layers = config_.layers};
  }
  absl::Status StoreKv(std::uint32_t layer) {
    return ToStatus(kernels::StoreKv(stream_, {.blocks = Blocks(),
                                               .kv = memory_.kv.as<std::uint16_t>(),
                                               .places = lists_.Places(plan_),
                                               .layer = layer,
                                               .row_count = lists_.RowCount(plan_),
                                               .rows_max = step_.shape.rows}));
  }

  kernels::AttendParams AttendParamsOf(std::uint32_t layer) const {
    kernels::AttendParams params;
    params.keys.pool = memory_.pool.bytes();
    params.keys.block_bytes = step_.layout.block_bytes();
    params.keys.layer_offset = step_.layout.KeyOffset(layer, 0);
    params.keys.block_tokens = step_.layout.shape().block_tokens;
    params.keys.kv_heads = config_.kv_heads;
    params.keys.head_dim = config_.head_dim;
    params.keys.rotary_dim = config_.rotary_dim;
    params.keys.pairs = kernels::RotaryPairs::kAdjacent;  // GGUF's order of Llama's rows
    params.keys.table = step_.rope_table;
    params.keys.positions = step_.rope_positions;
    params.keys.tiles = lists_.Tiles(plan_);
    params.keys.tile_count = lists_.RotatedTileCount(plan_);
    params.keys.tiles_max = step_.shape.rotated_tiles;
    params.keys.scratch = memory_.scratch.as<std::uint16_t>();
    params.q = memory_.q.as<std::uint16_t>();
    params.out = memory_.attended.as<float>();
    params.q_heads = config_.q_heads;
    params.scale = 1.0f / std::sqrt(static_cast<float>(config_.head_dim));
    params.rows = lists_.Rows(plan_);
    params.row_count = lists_.RowCount(plan_);
    params.rows_max = step_.shape.rows;
    return params;
  }

  absl::Status AttendByDecode(const kernels::AttendParams& rows) {
    kernels::DecodeParams params;
    params.rows = rows;
    params.rows.row_count = lists_.DecodeRowCount(plan_);
    params.rows.rows_max = step_.shape.decode_rows;
    params.keys_from = step_.attention == AttentionWay::kTilesScratch ? kernels::KeysFrom::kScratch
                                                                      : kernels::KeysFrom::kPool;
    params.items = lists_.DecodeItems(plan_);
    params.item_count = lists_.DecodeItemCount(plan_);
    params.first_items = lists_.FirstItems(plan_);
    params.items_max = memory_.room.decode_items;
    params.partial_out = memory_.split_out.as<float>();
    params.partial_softmax = memory_.split_softmax.as<float>();
    params.blocks = kernels::DecodeBlocksPerSm(config_.head_dim) * step_.multiprocessors;
    return ToStatus(kernels::AttendDecode(stream_, params));
  }
  absl::Status AttendByPrefill(const kernels::AttendParams& rows) {
    const kernels::PrefillParams params{.rows = rows,
                                        .query_tiles = lists_.QueryTiles(plan_),
                                        .query_tile_count = lists_.QueryTileCount(plan_),
                                        .query_tiles_max = step_.shape.query_tiles};
    return ToStatus(IsByWgmma() ? kernels::AttendPrefillWgmma(stream_, params)
                                : kernels::AttendPrefill(stream_, params));
  }
  bool IsByWgmma() const { return step_.attention == AttentionWay::kTilesWgmma; }

  absl::Status Attend(std::uint32_t layer) {
    const kernels::AttendParams params = AttendParamsOf(layer);
    const StepShape& shape = step_.shape;
    if (shape.rotated_tiles > 0) {
      CAIRN_RETURN_IF_ERROR(ToStatus(IsByWgmma() ? kernels::SwizzleTiles(stream_, params.keys)
                                                 : kernels::RotateKeys(stream_, params.keys)));
    }
    if (step_.attention == AttentionWay::kSimple) {
      CAIRN_RETURN_IF_ERROR(ToStatus(kernels::AttendRows(stream_, params)));
    }
    if (shape.decode_rows > 0) CAIRN_RETURN_IF_ERROR(AttendByDecode(params));
    if (shape.query_tiles > 0) CAIRN_RETURN_IF_ERROR(AttendByPrefill(params));
    return ToStatus(kernels::RoundRows(
        stream_, Elements(memory_.attended, memory_.rounded, config_.q_heads * config_.head_dim)));
  }

  const LlamaStep& step_;
  const LlamaConfig& config_;
  const StepMemory& memory_;
  rt::Stream& stream_;
  const PlanBuffer lists_;
  const std::byte* const plan_;
};

}  // namespace

absl::Status QueueLlamaStep(const LlamaStep& step, rt::Stream& stream) {
  Queue queue(step, stream);
  CAIRN_RETURN_IF_ERROR(queue.Embed());
  for (std::uint32_t i = 0; i < step.config.layers; ++i) {
    CAIRN_RETURN_IF_ERROR(queue.Layer(i));
  }
  CAIRN_RETURN_IF_ERROR(queue.TakeKv());
  return queue.Head();
}

}  // namespace cairn
