#include "server/api/ask_engine.hpp"

#include <utility>

namespace muster::server::api {

AskAboutFile AskEngine(EngineThread& engine) {
  return [&engine](const FileQuestion& question, std::function<void(Result<>)> answer) {
    engine::AskFile ask{.caller = {},
                        .key = question.key,
                        .sha256 = question.sha256,
                        .sends = question.kind != FileQuestion::Kind::kRead,
                        .size = question.size,
                        .kept = question.kind == FileQuestion::Kind::kKept,
                        .discarded = question.kind == FileQuestion::Kind::kDiscarded};
    engine.Ask(std::move(ask),
               [answer = std::move(answer)](const Result<engine::FileAnswer>& file) {
                 if (!file) return answer(Fail(file.error()));
                 answer(file->may ? Result<>() : Fail(ErrorCode::kDenied, "{}", file->why));
               });
  };
}

}  // namespace muster::server::api
