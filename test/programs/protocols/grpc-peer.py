"""Runs a gRPC server or client. `serve ADDRESS PORT` prints the lines `start` and `end` for each call and `message` for each
message of a stream, and drains after the input line `drain`. `call ADDRESS PORT METHOD=MS...` makes all calls at once and
leaves its channel open. Both exit at the end of their input."""
import os
import sys
import threading
import time
from concurrent import futures

import grpc

output_lock = threading.Lock()


def report(line):
    with output_lock:
        print(line, flush=True)


def serve(address, port):
    draining = threading.Event()

    def wait(request, context):
        report("start")
        try:
            time.sleep(int(request) / 1000)
            return b"done"
        finally:
            report("end")

    def stream(request, context):
        report("start")
        context.add_callback(lambda: report("end"))
        while not draining.is_set() and context.is_active():
            report("message")
            yield b"message"
            draining.wait(int(request) / 1000)

    handlers = {
        "Wait": grpc.unary_unary_rpc_method_handler(wait),
        "Stream": grpc.unary_stream_rpc_method_handler(stream),
    }
    server = grpc.server(futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("lastcall.test.Upstream", handlers),))
    server.add_insecure_port(f"{address}:{port}")
    server.start()
    report("ready")
    for line in sys.stdin:
        if line.strip() == "drain":
            draining.set()
            server.stop(grace=60)
    # The input ends when the parent exits.
    os._exit(0)


def call(address, port, calls):
    channel = grpc.insecure_channel(f"{address}:{port}")
    grpc.channel_ready_future(channel).result(30)
    futures_in_use = []  # grpcio cancels a call without a reference
    for argument in calls:
        method, ms = argument.split("=")
        make = channel.unary_stream if method == "Stream" else channel.unary_unary
        method_call = make(f"/lastcall.test.Upstream/{method}")
        if method == "Stream":
            threading.Thread(target=read_all, args=(method_call(ms.encode()),), daemon=True).start()
        else:
            futures_in_use.append(method_call.future(ms.encode()))
    report("ready")
    sys.stdin.read()
    os._exit(0)


def read_all(stream):
    try:
        for _ in stream:
            pass
    except grpc.RpcError:
        pass


if __name__ == "__main__":
    command, address, port, *calls = sys.argv[1:]
    if command == "serve":
        serve(address, port)
    else:
        call(address, port, calls)
