"""Responds to every path; to /slow?ms=N after N milliseconds, to /large with 1 MiB."""
import asyncio
from urllib.parse import parse_qs


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
        return
    if scope["path"] == "/slow":
        query = parse_qs(scope["query_string"].decode())
        await asyncio.sleep(int(query.get("ms", ["0"])[0]) / 1000)
    body = bytes(1 << 20) if scope["path"] == "/large" else b"hello\n"
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def lifespan(receive, send):
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
