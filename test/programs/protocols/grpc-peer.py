"""Both ends of a gRPC connection. `serve ADDRESS PORT` tells begin, end and byte, one per line, and leaves at the end of
its input after the line "leave". `call ADDRESS PORT METHOD=MS...` makes calls at once and keeps its channel."""
import os
import sys
import threading
import time
from concurrent import futures

import grpc

say_lock = threading.Lock()


def say(word):
    with say_lock:
        print(word, flush=True)


def serve(address, port):
    leaving = threading.Event()

    def wait(request, context):
        say("begin")
        try:
            time.sleep(int(request) / 1000)
            return b"done"
        finally:
            say("end")

    def stream(request, context):
        say("begin")
        context.add_callback(lambda: say("end"))
        while not leaving.is_set() and context.is_active():
            say("byte")
            yield b"news"
            leaving.wait(int(request) / 1000)

    handlers = {
        "Wait": grpc.unary_unary_rpc_method_handler(wait),
        "Stream": grpc.unary_stream_rpc_method_handler(stream),
    }
    server = grpc.server(futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("scene.Scene", handlers),))
    server.add_insecure_port(f"{address}:{port}")
    server.start()
    say("ready")
    for line in sys.stdin:
        if line.strip() == "leave":
            leaving.set()
            server.stop(grace=60)
    # The program that started this is gone.
    os._exit(0)


def call(address, port, calls):
    channel = grpc.insecure_channel(f"{address}:{port}")
    grpc.channel_ready_future(channel).result(30)
    kept = []  # a call that no one holds is cancelled
    for one in calls:
        method, ms = one.split("=")
        make = channel.unary_stream if method == "Stream" else channel.unary_unary
        method_call = make(f"/scene.Scene/{method}")
        if method == "Stream":
            threading.Thread(target=drain, args=(method_call(ms.encode()),), daemon=True).start()
        else:
            kept.append(method_call.future(ms.encode()))
    say("ready")
    sys.stdin.read()
    os._exit(0)


def drain(stream):
    try:
        for _ in stream:
            pass
    except grpc.RpcError:
        pass


if __name__ == "__main__":
    kind, address, port, *rest = sys.argv[1:]
    if kind == "serve":
        serve(address, port)
    else:
        call(address, port, rest)
