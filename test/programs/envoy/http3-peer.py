"""Runs HTTP/3 clients on aioquic: `ADDRESS PORT CLIENTS PACE_MS`. Each client sends requests on one connection and closes it
after GOAWAY. With a pace of 0 it sends one request and leaves the connection open. Prints `ok` or `fail REASON` for each request
and `closed` for each client that received GOAWAY. Exits at the end of its input."""
import asyncio
import os
import ssl
import sys

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import FrameType, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated

ANSWER_LIMIT_SECONDS = 10


def report(line):
    print(line, flush=True)


class Http3(H3Connection):
    """Records GOAWAY, which the library ignores."""

    got_goaway = False

    def _check_control_frame_type(self, frame_type):
        if frame_type == FrameType.GOAWAY:
            self.got_goaway = True
        super()._check_control_frame_type(frame_type)


class Client(QuicConnectionProtocol):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.http = Http3(self._quic)
        self.waiting = {}
        self.status = {}

    async def get(self, authority):
        stream = self._quic.get_next_available_stream_id()
        answer = self.waiting[stream] = asyncio.get_running_loop().create_future()
        head = {":method": "GET", ":scheme": "https", ":authority": authority, ":path": "/5"}
        self.http.send_headers(stream, [(name.encode(), value.encode()) for name, value in head.items()], True)
        self.transmit()
        return await asyncio.wait_for(answer, ANSWER_LIMIT_SECONDS)

    def quic_event_received(self, event):
        if isinstance(event, ConnectionTerminated):
            for answer in self.waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionError(f"connection ended: {event.reason_phrase or event.error_code}"))
        for received in self.http.handle_event(event):
            if isinstance(received, HeadersReceived):
                self.status[received.stream_id] = dict(received.headers).get(b":status")
            if isinstance(received, (HeadersReceived, DataReceived)) and received.stream_ended:
                answer = self.waiting.pop(received.stream_id, None)
                if answer is not None and not answer.done():
                    answer.set_result(self.status.pop(received.stream_id, b""))


async def client(address, port, pace_seconds):
    settings = QuicConfiguration(is_client=True, alpn_protocols=["h3"], verify_mode=ssl.CERT_NONE, idle_timeout=600)
    async with connect(address, port, configuration=settings, create_protocol=Client) as connection:
        while not connection.http.got_goaway:
            try:
                status = await connection.get("pod.test")
                report("ok" if status == b"200" else f"fail status {status.decode()}")
            except Exception as error:
                report(f"fail {error or type(error).__name__}")
                return
            if pace_seconds == 0:
                await asyncio.Event().wait()
            await asyncio.sleep(pace_seconds)
    report("closed")


class ExitAtEndOfInput(asyncio.Protocol):
    def connection_lost(self, error):
        os._exit(0)


async def main(address, port, clients, pace_ms):
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(ExitAtEndOfInput, sys.stdin)
    await asyncio.gather(*[client(address, int(port), int(pace_ms) / 1000) for _ in range(int(clients))])
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
