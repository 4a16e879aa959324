"""A TCP proxy that a test puts between two programs to spoil what passes: it can stall, delay, cut and
refuse, while both ends believe in their connections."""

import asyncio
import threading


class _Pair:
    """One connection: the client's half and the server's."""

    def __init__(self, client, server):
        self.client, self.server = client, server
        self.flows = asyncio.Event()
        self.flows.set()

    def abort(self):
        self.client.transport.abort()
        self.server.transport.abort()


class TcpProxy:
    """Listens on a port of its own and passes bytes on to `target_port`, both on 127.0.0.1.

    Runs in a thread; every method may be called from the test.
    """

    def __init__(self, target_port):
        self._target_port = target_port
        self._pairs = []
        self._loop = asyncio.new_event_loop()
        self._stall_new, self._delay, self._refuse = False, 0.0, False
        self.accepted = 0  # connections so far
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._call(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def open(self):
        """How many connections pass through it now."""
        return len(self._pairs)

    # What happens to the bytes

    def stall(self, new_too=True):
        """From now on nothing passes, and nobody is told: the connections stay open. Those made later
        are stalled too, unless told otherwise."""
        self._stall_new = new_too
        self._each(lambda pair: pair.flows.clear())

    def flow(self):
        """What was stalled goes on, byte for byte, with all that was held back."""
        self._stall_new = False
        self._each(lambda pair: pair.flows.set())

    def delay(self, seconds):
        """Every piece waits so long before it is passed on; order is kept."""
        self._delay = seconds

    def refuse(self, yes=True):
        """New connections are closed at once."""
        self._refuse = yes

    def cut(self):
        """Ends every connection at once, with what is on its way lost, by a reset to both ends."""
        self._each(_Pair.abort)

    def cut_server_side(self):
        """Ends only the server's half: clients keep connections that lead nowhere."""
        self._each(lambda pair: (pair.flows.clear(), pair.server.transport.abort()))

    def close(self):
        async def now():
            self._server.close()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        self._call(now())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    # Inside

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def _each(self, act):
        async def now():
            for pair in list(self._pairs):
                act(pair)
        self._call(now())

    async def _serve(self, reader, writer):
        self.accepted += 1
        try:
            if self._refuse:
                raise ConnectionRefusedError
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:
            writer.transport.abort()
            return
        pair = _Pair(writer, to_server)
        if self._stall_new:
            pair.flows.clear()
        self._pairs.append(pair)
        try:
            await asyncio.gather(self._pass(pair, reader, to_server), self._pass(pair, from_server, writer))
        finally:
            self._pairs.remove(pair)
            pair.abort()

    async def _pass(self, pair, reader, writer):
        try:
            while data := await reader.read(65536):
                if self._delay:
                    await asyncio.sleep(self._delay)
                await pair.flows.wait()
                writer.write(data)
                await writer.drain()
            await pair.flows.wait()
            writer.write_eof()
        except OSError:
            await pair.flows.wait()
            pair.abort()
