#pragma once

#include <cstdint>
#include <string>

#include "adapters/net/asio.hpp"

namespace muster::net {

// A body as a string that grows with what comes. Beast's own takes the memory of the promised
// length at once, which of a large file is too much even when its pieces are taken out as they
// come.
struct PieceBody {
  using value_type = std::string;

  class reader {
   public:
    template <bool is_request, typename Fields>
    reader(beast::http::header<is_request, Fields>&, value_type& body) : body_(body) {}

    void init(const boost::optional<std::uint64_t>&, error_code& error) { error = {}; }
    template <typename Buffers>
    std::size_t put(const Buffers& buffers, error_code& error) {
      error = {};
      std::size_t taken = 0;
      for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers);
           ++at) {
        const asio::const_buffer piece(*at);
        body_.append(static_cast<const char*>(piece.data()), piece.size());
        taken += piece.size();
      }
      return taken;
    }
    void finish(error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace muster::net
