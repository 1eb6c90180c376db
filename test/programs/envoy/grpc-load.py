"""Runs gRPC clients on grpcio: `ADDRESS PORT CHANNELS PACE_MS`. Each channel makes one call after the other and is never
closed. The library has its default settings: it reconnects after GOAWAY and retries only calls that the server did not process.
Prints `ok` or `fail REASON` for each call and exits at the end of its input."""
import os
import sys
import threading
import time

import grpc

LIMIT_SECONDS = 10
# Without this option the channels of a process share one connection.
OPTIONS = [("grpc.use_local_subchannel_pool", 1)]

output_lock = threading.Lock()


def report(line):
    with output_lock:
        print(line, flush=True)


def calls(target, pace_seconds):
    channel = grpc.insecure_channel(target, options=OPTIONS)
    grpc.channel_ready_future(channel).result(LIMIT_SECONDS)
    wait = channel.unary_unary("/lastcall.test.Upstream/Wait")
    while True:
        started = time.monotonic()
        try:
            answer = wait(b"5", timeout=LIMIT_SECONDS)
            report("ok" if answer == b"done" else f"fail answer {answer}")
        except grpc.RpcError as error:
            report(f"fail {error.code().name} {error.details()}")
        time.sleep(max(0, started + pace_seconds - time.monotonic()))


if __name__ == "__main__":
    address, port, channels, pace_ms = sys.argv[1:]
    for _ in range(int(channels)):
        threading.Thread(target=calls, args=(f"{address}:{port}", int(pace_ms) / 1000), daemon=True).start()
    sys.stdin.read()
    os._exit(0)
