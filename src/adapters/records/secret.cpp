#include "adapters/records/parts.hpp"
#include "adapters/records/records.hpp"

namespace muster::records {

std::string EncodeSecret(const Secret& secret) {
  wire::Secret out;
  out.set_name(secret.name);
  out.set_sealed(secret.sealed);
  out.set_version(secret.version);
  out.set_by(secret.by);
  out.set_at_ms(secret.at.ms);
  PutPairs(secret.labels, out.mutable_labels());
  return out.SerializeAsString();
}

Result<Secret> DecodeSecret(std::string_view blob) {
  wire::Secret in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  return Secret{.name = in.name(),
                .sealed = in.sealed(),
                .version = in.version(),
                .by = in.by(),
                .at = {in.at_ms()},
                .labels = TakePairs<Labels>(in.labels())};
}

std::string EncodeNotice(const OpenNotice& notice) {
  wire::OpenNotice out;
  out.set_run(notice.run.value);
  out.set_visit(notice.visit.value);
  out.set_channel(notice.channel);
  out.set_job(notice.job);
  out.set_state(notice.state);
  out.set_message(notice.message);
  out.set_made_ms(notice.made.ms);
  out.set_attempts(notice.attempts);
  out.set_next_ms(notice.next.ms);
  return out.SerializeAsString();
}

Result<OpenNotice> DecodeNotice(std::string_view blob) {
  wire::OpenNotice in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  return OpenNotice{.run = RunId(in.run()),
                    .visit = Visit(in.visit()),
                    .channel = in.channel(),
                    .job = in.job(),
                    .state = in.state(),
                    .message = in.message(),
                    .made = {in.made_ms()},
                    .attempts = in.attempts(),
                    .next = {in.next_ms()}};
}

}  // namespace muster::records
