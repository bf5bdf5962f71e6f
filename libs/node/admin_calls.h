#ifndef CAIRN_LIBS_NODE_ADMIN_CALLS_H_
#define CAIRN_LIBS_NODE_ADMIN_CALLS_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "libs/base/mark.h"
#include "libs/node/admin.h"

// How NodeAdmin's calls begin and reach the shards. For admin*.cc only.
namespace cairn {

template <class T, class F>
void NodeAdmin::Begin(AdminDone<T> done, F call) {
  needs_.loop.Post([this, done = std::move(done), call = std::move(call)]() mutable {
    if (is_stopping_) {
      done(absl::UnavailableError("the node is stopping"));
      return;
    }
    if (under_way_ >= needs_.options.ceilings.admin_calls) {
      CAIRN_COVERED("node_admin_calls_full");
      done(absl::ResourceExhaustedError(absl::StrCat(under_way_, " admin calls are under way")));
      return;
    }
    ++under_way_;
    call(AdminDone<T>([this, done = std::move(done)](absl::StatusOr<T> result) mutable {
      done(std::move(result));
      End();
    }));
  });
}

template <class Answer, class Ask, class Done>
void NodeAdmin::AskShards(Ask ask, Done done) {
  struct Collected {
    std::vector<Answer> answers;
    std::size_t left = 0;
    Done done;
  };
  const auto& shards = needs_.front.shards();
  auto collected = std::make_shared<Collected>(
      Collected{std::vector<Answer>(shards.size()), shards.size(), std::move(done)});
  for (ShardIndex i = 0; i < shards.size(); ++i) {
    absl::AnyInvocable<void(Answer)> reply = [this, collected, i](Answer answer) {
      needs_.loop.Post([collected, i, answer = std::move(answer)]() mutable {
        collected->answers[i] = std::move(answer);
        if (--collected->left == 0) collected->done(std::move(collected->answers));
      });
    };
    Shard& shard = *shards[i];
    shard.loop().Post(
        [&shard, i, ask, reply = std::move(reply)]() mutable { ask(i, shard, std::move(reply)); });
  }
}

}  // namespace cairn
#endif  // CAIRN_LIBS_NODE_ADMIN_CALLS_H_
