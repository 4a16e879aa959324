#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "adapters/memory/memory_log_store.hpp"
#include "engine/answer.hpp"
#include "link/messages.hpp"
#include "ports/store.hpp"

namespace muster::sim {

// The server's end of one connection, as the network sees it.
struct ServerPort {
  std::function<void(link::ServerFrame)> to_node;
  std::function<void()> close;
};

// The servers of a history, one or several, as hosts and callers see them: somebody who answers.
class Servers {
 public:
  virtual ~Servers() = default;

  // The network. A link that opens where no server listens is refused (none).
  virtual std::optional<LinkId> Open(std::string key, ServerPort port) = 0;
  virtual void Receive(LinkId link, link::NodeFrame frame) = 0;
  virtual void Closed(LinkId link) = 0;

  // A caller of the API. `answer` is called at most once; never when the server crashes first.
  using Answered = std::function<void(Result<engine::AnyAnswer>)>;
  template <engine::Answered C>
  void Ask(C command, std::function<void(Result<typename C::Answer>)> answer) {
    AskAs(
        [command = std::move(command)](RequestId id) mutable {
          command.caller.request = id;
          command.caller.name = "sim";
          return engine::AnyCommand(std::move(command));
        },
        [answer = std::move(answer)](Result<engine::AnyAnswer> any) {
          answer(engine::Unpack<C>(std::move(any)));
        });
  }

  // From now on, no order may go to this key.
  virtual void Forbid(const std::string& key) = 0;

  virtual Store& store() = 0;  // reads of what is on disk, also while no server is up
  virtual MemoryLogStore& log_disk() = 0;

  // A host begins an order. Returns the true time at which its start_by is over, on the clock of
  // the server that set it.
  virtual std::int64_t Begins(const link::Order& order) = 0;

 protected:
  using MakeCommand = std::function<engine::AnyCommand(RequestId)>;
  virtual void AskAs(MakeCommand make, Answered answer) = 0;
};

// What can happen to the servers of a history, apart from what hosts and networks do.
class ServerFaults {
 public:
  virtual ~ServerFaults() = default;

  virtual void Begin() = 0;             // the first start
  virtual void Plan(std::int64_t) = 0;  // what is to happen within so many ms besides Break
  virtual bool Breaks() = 0;            // whether the next fault is one of the servers
  virtual void Break() = 0;             // some fault; ends by itself, or at Mend
  virtual void Replace() = 0;           // another term begins, perhaps at another hour
  virtual void Mend() = 0;
  virtual void CheckEnd() = 0;
};

}  // namespace muster::sim
