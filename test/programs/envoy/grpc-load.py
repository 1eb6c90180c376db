"""Clients of gRPC with grpcio: `ADDRESS PORT CHANNELS PACE_MS`. Each channel makes one call after the other and is kept for
ever; the library itself goes elsewhere when it is sent away, and repeats only what a server has certainly not begun, as it does
for everyone who sets nothing. Tells ok or `fail WHY`,
one per line, and leaves at the end of its input."""
import os
import sys
import threading
import time

import grpc

LIMIT_SECONDS = 10
# Channels of one process share a connection unless they are told not to.
OPTIONS = [("grpc.use_local_subchannel_pool", 1)]

say_lock = threading.Lock()


def say(word):
    with say_lock:
        print(word, flush=True)


def calls(target, pace_seconds):
    channel = grpc.insecure_channel(target, options=OPTIONS)
    grpc.channel_ready_future(channel).result(LIMIT_SECONDS)
    wait = channel.unary_unary("/scene.Scene/Wait")
    while True:
        started = time.monotonic()
        try:
            answer = wait(b"5", timeout=LIMIT_SECONDS)
            say("ok" if answer == b"done" else f"fail answer {answer}")
        except grpc.RpcError as error:
            say(f"fail {error.code().name} {error.details()}")
        time.sleep(max(0, started + pace_seconds - time.monotonic()))


if __name__ == "__main__":
    address, port, channels, pace_ms = sys.argv[1:]
    for _ in range(int(channels)):
        threading.Thread(target=calls, args=(f"{address}:{port}", int(pace_ms) / 1000), daemon=True).start()
    sys.stdin.read()
    os._exit(0)
