// What the engine tells a device of the arena that it reads hits in.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "tests/unit/engine/engine_world.h"

namespace cairn {
namespace {

// A device of the CPU that notes what it is told.
class NotingDevice : public Device {
 public:
  struct Notes {
    std::vector<std::shared_ptr<const SharedArena>> arenas;  // in the order of UseArena
    std::uint64_t with_version = 0;                          // attended blocks
    std::uint64_t without = 0;
    std::function<std::uint64_t(const std::byte*)> word_of;  // of a block of the arena
  };
  NotingDevice(std::unique_ptr<Device> device, Notes* notes)
      : device_(std::move(device)), notes_(notes) {}
  const ModelShape& shape() const override { return device_->shape(); }
  const KvLayout& layout() const override { return device_->layout(); }
  std::string numerics() const override { return device_->numerics(); }
  void UseArena(std::shared_ptr<const SharedArena> arena) override {
    notes_->arenas.push_back(std::move(arena));
  }
  absl::Status Run(absl::Span<const StepChunk> chunks, StepOutput output) override {
    for (const StepChunk& chunk : chunks) {
      Note(chunk.own);
      for (const AttendedSegment& segment : chunk.context) Note(segment);
    }
    return device_->Run(chunks, output);
  }

 private:
  bool IsOfArena(const std::byte* block) const {
    if (notes_->arenas.empty() || notes_->arenas.back() == nullptr) return false;
    const absl::Span<const std::byte> piece = notes_->arenas.back()->pieces()[0];
    return block >= piece.data() && block < piece.data() + piece.size();
  }
  void Note(const AttendedSegment& segment) {
    ASSERT_EQ(segment.versions.size(), segment.blocks.size());
    for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
      const std::byte* block = segment.blocks[i];
      EXPECT_EQ(segment.versions[i], IsOfArena(block) ? notes_->word_of(block) : 0);
      ++(segment.versions[i] != 0 ? notes_->with_version : notes_->without);
    }
  }
  const std::unique_ptr<Device> device_;
  Notes* const notes_;
};

class ArenaTest : public testing::Test {
 protected:
  EngineWorld::Options WorldOptions() {
    EngineWorld::Options options{.has_cache = true};
    options.make_device = [this](const GgufFile& file, std::uint32_t block_tokens) {
      auto device = *HostDevice::Create(file, {.tier = "plain", .block_tokens = block_tokens});
      return std::make_unique<NotingDevice>(std::move(device), &notes_);
    };
    return options;
  }
  const Answer* Run(EngineWorld& world, const std::vector<Token>& span) {
    notes_.word_of = [&](const std::byte* block) { return world.cache->WordOf(block); };
    const Answer* answer = world.Submit({Span(span), Dependent({1, 2, 3})}, 6);
    world.RunAll();
    return answer;
  }

  NotingDevice::Notes notes_;
  Rng rng_{1};
  const std::vector<Token> span_ = RandomTokens(rng_, 60);
};

TEST_F(ArenaTest, TheDeviceIsToldOfAnArenaOnce) {
  EngineWorld world(WorldOptions());
  Run(world, span_);
  EXPECT_TRUE(notes_.arenas.empty()) << "nothing was found";
  for (int i = 0; i < 3; ++i) Run(world, span_);
  world.cache->Clear();  // the next blocks have other words, in the same slots
  for (int i = 0; i < 2; ++i) Run(world, span_);
  ASSERT_EQ(notes_.arenas.size(), 1u);
  EXPECT_EQ(notes_.arenas[0], world.cache->arena);
  EXPECT_GT(notes_.with_version, 0u);
  EXPECT_GT(notes_.without, 0u);
}

TEST_F(ArenaTest, ANewArenaTakesTheOldOnesPlace) {
  EngineWorld world(WorldOptions());
  for (int i = 0; i < 2; ++i) Run(world, span_);
  world.cache->arena = nullptr;
  Run(world, span_);
  ASSERT_EQ(notes_.arenas.size(), 2u);
  EXPECT_EQ(notes_.arenas[1], world.cache->arena);
}

// So that a node's memory does not stay mapped when it is gone.
TEST_F(ArenaTest, ALostArenaIsLetGoAndTheEngineWokenForIt) {
  EngineWorld world(WorldOptions());
  for (int i = 0; i < 2; ++i) Run(world, span_);
  const std::weak_ptr<const ArenaView> watched = world.cache->arena;
  world.cache->arena = nullptr;
  notes_.arenas = {notes_.arenas[0]};
  ASSERT_FALSE(watched.expired());
  world.cache->is_lost = true;
  world.cache->tell_lost();
  world.engine->WaitForWork();  // would wait for ever
  world.engine->RunStep();
  ASSERT_EQ(notes_.arenas.size(), 2u);
  EXPECT_EQ(notes_.arenas[1], nullptr);
  notes_.arenas.clear();
  EXPECT_TRUE(watched.expired());
}

// A request that was reading there has moved off before the device lets it go.
TEST_F(ArenaTest, WhoReadsALostArenaMovesOffFirst) {
  EngineWorld world(WorldOptions());
  Run(world, span_);
  const Answer* expected = Run(world, span_);
  const Answer* answer = world.Submit({Span(span_), Dependent({1, 2, 3})}, 6);
  world.RunAll([&] {
    if (answer->tokens.size() == 2) {
      world.cache->is_lost = true;
      world.cache->leave_by = Instant();
    }
  });
  EXPECT_EQ(answer->tokens, expected->tokens);
  EXPECT_EQ(answer->logits, expected->logits);
  EXPECT_EQ(notes_.arenas.back(), nullptr);
  EXPECT_EQ(world.engine->stats().requests_moved_off_arena, 1u);
}

TEST_F(ArenaTest, AnEngineThatEndsLetsGo) {
  {
    EngineWorld world(WorldOptions());
    for (int i = 0; i < 2; ++i) Run(world, span_);
    EXPECT_NE(notes_.arenas.back(), nullptr);
  }
  EXPECT_EQ(notes_.arenas.back(), nullptr);
}

}  // namespace
}  // namespace cairn
