#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

// A text that must not be seen: it has no formatter and no stream operator, so a log line or
// message that would show it does not compile, and its bytes are wiped when it goes away. Whoever
// needs them says so: Reveal().
class SecretText {
 public:
  SecretText() = default;
  explicit SecretText(std::string text) : text_(std::move(text)) {}
  // Takes the bytes and wipes the place they came from.
  static SecretText Take(std::string& text) {
    SecretText taken{std::string(text)};
    Wipe(text);
    return taken;
  }
  ~SecretText() { Wipe(text_); }
  SecretText(const SecretText&) = default;
  SecretText(SecretText&& other) noexcept : text_(other.text_) { Wipe(other.text_); }
  SecretText& operator=(SecretText other) noexcept {
    text_.swap(other.text_);
    return *this;
  }

  const std::string& Reveal() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }

  static void Wipe(std::string& text) noexcept {
    explicit_bzero(text.data(), text.size());
    text.clear();
  }

 private:
  std::string text_;
};

}  // namespace muster
