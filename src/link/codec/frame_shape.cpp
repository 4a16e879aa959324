#include "link/codec/frame_shape.hpp"

#include <cstdint>
#include <optional>

#include "domain/outputs.hpp"
#include "link/frame_bounds.hpp"

namespace muster::link {
namespace {

// Fields of one message as protobuf encodes them: a tag, then what its wire type says.
class WireFields {
 public:
  struct Field {
    std::uint64_t number = 0;
    std::optional<std::string_view> bytes = {};  // of a text, bytes or a message
  };

  explicit WireFields(std::string_view bytes) : rest_(bytes) {}

  // Nothing at the end, and where the bytes are no field.
  std::optional<Field> Next() {
    if (rest_.empty()) return std::nullopt;
    const auto tag = Varint();
    if (!tag || *tag >> 3 == 0) return Stop();
    Field field{.number = *tag >> 3};
    switch (*tag & 7) {
      case 0:
        if (!Varint()) return Stop();
        return field;
      case 1:
        return Skip(8) ? std::optional(field) : Stop();
      case 2: {
        const auto size = Varint();
        if (!size || *size > rest_.size()) return Stop();
        field.bytes = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return field;
      }
      case 5:
        return Skip(4) ? std::optional(field) : Stop();
      default:
        return Stop();  // groups, which no message of ours has
    }
  }

  bool Broken() const { return broken_; }

 private:
  std::optional<Field> Stop() {
    broken_ = true;
    return std::nullopt;
  }
  bool Skip(std::size_t size) {
    if (rest_.size() < size) return false;
    rest_.remove_prefix(size);
    return true;
  }
  std::optional<std::uint64_t> Varint() {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
      const auto byte = static_cast<unsigned char>(rest_[i]);
      number |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
      if (byte >= 0x80) continue;
      rest_.remove_prefix(i + 1);
      return number;
    }
    return std::nullopt;
  }

  std::string_view rest_;
  bool broken_ = false;
};

Result<> CountOne(std::string_view what, std::size_t& count, std::size_t most) {
  if (++count <= most) return {};
  return Fail(ErrorCode::kInvalid, "link: the node sent more than {} {} at once", most, what);
}

// Numbers of fields are those of api/link.proto.
class ShapeReader {
 public:
  Result<FrameShape> Read(std::string_view frame) {
    auto read = Each(frame, [this](std::uint64_t number, std::string_view bytes) -> Result<> {
      if (number == 2) return Hello(bytes);
      if (number == 4) return Chunk(bytes);
      if (number == 5) return Report(bytes);
      return number == 3 ? Plain(bytes) : Result<>();
    });
    if (!read) return Fail(read.error());
    return shape_;
  }

 private:
  template <typename Take>
  Result<> Each(std::string_view message, Take take) {
    WireFields fields(message);
    while (const auto field = fields.Next()) {
      ++shape_.fields;
      if (!field->bytes) continue;
      if (auto taken = take(field->number, *field->bytes); !taken) return taken;
    }
    if (!fields.Broken()) return {};
    return Fail(ErrorCode::kInvalid, "link: {} bytes that are no message", message.size());
  }
  // A message that holds no other one.
  Result<> Plain(std::string_view message) {
    return Each(message, [](std::uint64_t, std::string_view) { return Result<>(); });
  }

  Result<> Hello(std::string_view message) {
    shape_.hello = true;
    return Each(message, [this](std::uint64_t number, std::string_view bytes) -> Result<> {
      if (number == 2) return CountOne("features", shape_.features, kMostFeatures);
      if (number == 3) {
        auto counted = CountOne("facts", shape_.facts, kMostFacts);
        return counted ? Plain(bytes) : counted;
      }
      if (number != 8) return {};
      auto counted = CountOne("tasks", shape_.tasks, kMostHeldTasks);
      return counted ? TaskWithEnd(bytes) : counted;
    });
  }
  Result<> Report(std::string_view message) {
    auto counted = CountOne("reports", shape_.reports, kMostReports);
    return counted ? TaskWithEnd(message) : counted;
  }
  // HeldTask and Report: a task (1), its end (3), the totals of its output (4).
  Result<> TaskWithEnd(std::string_view message) {
    return Each(message, [this](std::uint64_t number, std::string_view bytes) -> Result<> {
      if (number == 3) return End(bytes);
      return number == 1 || number == 4 ? Plain(bytes) : Result<>();
    });
  }
  Result<> End(std::string_view message) {
    std::size_t outputs = 0;
    return Each(message, [&](std::uint64_t number, std::string_view bytes) -> Result<> {
      if (number == 8 || number == 11) return Plain(bytes);
      if (number != 10) return {};
      auto counted = CountOne("outputs of a task", outputs, kMaxOutputs);
      return counted ? Plain(bytes) : counted;
    });
  }
  Result<> Chunk(std::string_view message) {
    if (auto counted = CountOne("pieces of output", shape_.chunks, kMostChunks); !counted)
      return counted;
    bool empty = true;
    auto read = Each(message, [&](std::uint64_t number, std::string_view bytes) -> Result<> {
      if (number == 5) empty = bytes.empty();
      return number == 1 ? Plain(bytes) : Result<>();
    });
    if (!read || !empty) return read;
    return Fail(ErrorCode::kInvalid, "link: a piece of output without a byte");
  }

  FrameShape shape_;
};

}  // namespace

Result<FrameShape> MeasureNodeFrame(std::string_view bytes) { return ShapeReader().Read(bytes); }

}  // namespace muster::link
