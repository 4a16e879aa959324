#include <memory>

#include <openssl/evp.h>

#include "documents/documents.hpp"

namespace muster::documents {
namespace {

// Each field with its length before it, so that no two lists of fields are the same bytes.
class Hash {
 public:
  Hash() { Check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

  void Add(std::string_view field) {
    const std::string size = fmt::format("{}:", field.size());
    Check(EVP_DigestUpdate(context_.get(), size.data(), size.size()));
    Check(EVP_DigestUpdate(context_.get(), field.data(), field.size()));
  }
  void Add(std::uint64_t number) { Add(fmt::format("{}", number)); }

  std::string Take() && {
    std::string digest(32, '\0');
    Check(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()),
                             nullptr));
    return digest;
  }

 private:
  static void Check(int done) { MUSTER_CHECK(done == 1); }

  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
};

void AddFiles(const JobDocument& job, Hash& hash) {
  for (const auto& file : job.files) {
    hash.Add(file.path);
    const Command* command = CommandOf(job.spec.stages[file.stage]);
    if (command == nullptr) continue;
    if (file.use == FileReference::Use::kScript) {
      hash.Add(command->script);
      continue;
    }
    if (!command->push) continue;
    for (const auto& entry : command->push->files) {
      hash.Add(entry.path);
      hash.Add(entry.sha256);
      hash.Add(entry.size);
      hash.Add(entry.mode);
      hash.Add(entry.folder ? 1 : 0);
    }
  }
}

}  // namespace

std::string ContentHash(const Document& document) {
  Hash hash;
  hash.Add("muster/v1");
  hash.Add(document.text);
  if (const auto* job = std::get_if<JobDocument>(&document.body)) AddFiles(*job, hash);
  return std::move(hash).Take();
}

}  // namespace muster::documents
