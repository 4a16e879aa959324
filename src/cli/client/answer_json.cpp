#include "cli/client/answer_json.hpp"

#include <new>

#include <boost/json.hpp>

namespace muster::cli {
namespace {

namespace json = boost::json;

// The heap, up to a bound. Kept alive by the values in it.
class BoundedMemory final : public json::memory_resource {
 public:
  explicit BoundedMemory(std::size_t most) : left_(most) {}

 private:
  // The library may free with another alignment than it asked for; it needs none beyond the heap's.
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    MUSTER_CHECK(alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    if (bytes > left_) throw std::bad_alloc();
    void* memory = ::operator new(bytes);
    left_ -= bytes;
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t) override {
    ::operator delete(memory);
    left_ += bytes;
  }
  bool do_is_equal(const json::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::size_t left_;
};

}  // namespace

Result<json::value> ParseAnswer(std::string_view text, std::size_t most) {
  const auto memory = json::make_shared_resource<BoundedMemory>(most);
  boost::system::error_code problem;
  try {
    json::parser parser(memory);  // which builds up lists in it too
    parser.reset(memory);
    parser.write(text, problem);
    if (!problem) return parser.release();
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kInternal,
                "the answer of the server takes more than {} MB; is this a Muster server?",
                most >> 20);
  }
  return Fail(ErrorCode::kInvalid, "not JSON: {}", problem.message());
}

}  // namespace muster::cli
