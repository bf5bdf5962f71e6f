#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "libs/store_memory/memory_store.h"
#include "libs/store_rocksdb/rocksdb_store.h"
#include "tests/contract/temp_folder.h"

// What libs/ports/generation_store.h promises, of store_memory and store_rocksdb.
namespace cairn::contract {
namespace {

using Generations = std::vector<std::uint64_t>;

class StoreContract : public testing::TestWithParam<bool> {
 protected:
  StoreContract() {
    if (GetParam()) {
      store_ = std::make_unique<MemoryStore>();
    } else {
      store_ = RocksdbStore::Open(folder_ / "store").value();
    }
  }
  TempFolder folder_;
  std::unique_ptr<GenerationStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "Memory" : "Rocksdb");
});

TEST_P(StoreContract, ANewOneIsEmpty) {
  EXPECT_EQ(store_->List().value(), Generations{});
  EXPECT_EQ(store_->Get(1).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(StoreContract, ValuesComeBackWholeWhateverTheyHold) {
  const std::string zeros(3, '\0');
  const std::string large(3'000'000, 'x');
  ASSERT_TRUE(store_->Put(1, zeros).ok());
  ASSERT_TRUE(store_->Put(2, "").ok());
  ASSERT_TRUE(store_->Put(3, large).ok());
  EXPECT_EQ(store_->Get(1).value(), zeros);
  EXPECT_EQ(store_->Get(2).value(), "");
  EXPECT_EQ(store_->Get(3).value(), large);
}

TEST_P(StoreContract, GenerationsAreListedByNumberNotByText) {
  for (const std::uint64_t generation : {std::uint64_t{256}, std::uint64_t{9}, ~std::uint64_t{0}}) {
    ASSERT_TRUE(store_->Put(generation, "v").ok());
  }
  EXPECT_EQ(store_->List().value(), (Generations{9, 256, ~std::uint64_t{0}}));
}

TEST_P(StoreContract, PuttingAgainReplaces) {
  ASSERT_TRUE(store_->Put(4, "old").ok());
  ASSERT_TRUE(store_->Put(4, "new").ok());
  EXPECT_EQ(store_->Get(4).value(), "new");
  EXPECT_EQ(store_->List().value(), Generations{4});
}

TEST_P(StoreContract, WhatIsRemovedIsGoneAndRemovingNothingIsFine) {
  ASSERT_TRUE(store_->Put(4, "a").ok());
  ASSERT_TRUE(store_->Put(5, "b").ok());
  EXPECT_TRUE(store_->Remove(4).ok());
  EXPECT_TRUE(store_->Remove(4).ok());
  EXPECT_EQ(store_->Get(4).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_->List().value(), Generations{5});
}

}  // namespace
}  // namespace cairn::contract
