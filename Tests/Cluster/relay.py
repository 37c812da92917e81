"""A TCP relay whose connections can be cut, refused, held back and slowed down."""

import asyncio

CHUNK = 1 << 16


class Relay:
    def __init__(self, port, target):
        self.port, self.target = port, target
        self.server = None
        self.writers = set()
        self.open = asyncio.Event()
        self.open.set()
        # Bytes per second to the client of the relay; None: no limit.
        self.rate = None

    async def start(self):
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", self.port, limit=CHUNK)

    async def refuse(self):
        """Cuts all connections and refuses new ones until `start`."""
        self.server.close()
        for writer in list(self.writers):
            writer.transport.abort()

    def hold(self):
        """Forwards nothing until `release`: connections stay open, and what they carry arrives then."""
        self.open.clear()

    def release(self):
        self.open.set()

    async def accept(self, reader, writer):
        self.writers.add(writer)
        other_writer = None
        try:
            await self.open.wait()
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self.target, limit=CHUNK)
            self.writers.add(other_writer)
            pumps = [self.pump(reader, other_writer, None), self.pump(other_reader, writer, self)]
            done, pending = await asyncio.wait(map(asyncio.ensure_future, pumps), return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
            await asyncio.gather(*done, *pending, return_exceptions=True)
        except (OSError, asyncio.CancelledError):
            # The streams of asyncio log the cancellation at the end of the run as an error.
            pass
        finally:
            for end in (writer, other_writer):
                self.writers.discard(end)
                if end is not None:
                    end.close()

    async def pump(self, reader, writer, limits):
        """Forwards bytes until the connection ends; `limits.rate` applies if given."""
        while data := await reader.read(CHUNK if limits is None or limits.rate is None else 4096):
            await self.open.wait()
            if limits is not None and limits.rate is not None:
                await asyncio.sleep(len(data) / limits.rate)
            writer.write(data)
            await writer.drain()
