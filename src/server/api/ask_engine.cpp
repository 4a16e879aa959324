#include "server/api/ask_engine.hpp"

#include <utility>

namespace muster::server::api {

AskAboutFile AskEngine(EngineThread& engine) {
  return [&engine](const FileQuestion& question, std::function<void(Result<bool>)> answer) {
    engine::AskFile ask{.caller = {},
                        .key = question.key,
                        .sha256 = question.sha256,
                        .sends = question.kind == FileQuestion::Kind::kWrite};
    engine.Ask(std::move(ask), [answer = std::move(answer)](Result<engine::Answer> result) {
      if (!result) return answer(Fail(result.error()));
      answer(std::get<engine::FileAnswer>(*result).may);
    });
  };
}

}  // namespace muster::server::api
