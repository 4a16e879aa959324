#pragma once

// What this folder's sources use of Boost; precompiled, since it takes longer than all of them.
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/intrusive/list.hpp>

namespace muster::net {

namespace asio = boost::asio;
namespace beast = boost::beast;

using boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Tcp = asio::ip::tcp;
using TcpSocket = asio::basic_stream_socket<Tcp, Executor>;

}  // namespace muster::net
