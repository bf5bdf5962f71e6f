// Calls OpenSession as the flags say (those of cairnctl) and prints "CODE TOKEN_ID SECRET_BYTES",
// so that tests can: no verb of cairnctl gives tokens away.
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/cairnctl/node_client.h"

int main(int argc, char** argv) {
  cairn::Invocation call{.verb = "open-session",
                         .streams = {.in = std::cin, .out = std::cout, .err = std::cerr}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos || equals < 2) return 2;
    call.flags[argument.substr(2, equals - 2)] = argument.substr(equals + 1);
  }
  return cairn::AskNode(
      call, cairn::kTimeoutDefault, [](cairn::NodeClient& node) -> absl::StatusOr<cairn::ExitCode> {
        cairn::node::v1::OpenSessionRequest request;
        request.mutable_claim()->set_model("model");
        request.mutable_claim()->set_namespace_("tenant");
        request.mutable_claim()->set_block_tokens(16);
        request.mutable_ttl()->set_seconds(60);
        const auto token = node.OpenSession(request);
        if (!token.ok()) {
          std::cout << absl::StatusCodeToString(token.status().code()) << "\n";
          return token.status();
        }
        std::cout << "OK " << token->token_id() << " " << token->token().size() << "\n";
        return cairn::kExitDone;
      });
}
