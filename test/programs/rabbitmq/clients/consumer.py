"""Consumes several jobs of a queue concurrently. With ON_SIGTERM=finishes it finishes its jobs after SIGTERM; STATUS_ON sets the
address of its active-url and drain-url."""
import json
import os
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pika

QUEUE = os.environ["QUEUE"]
JOB_SECONDS = float(os.environ["JOB_SECONDS"])


def report(**fields):
    print(json.dumps(fields), flush=True)


class Consumer:
    def __init__(self):
        self.connection = pika.BlockingConnection(pika.ConnectionParameters(os.environ["BROKER"]))
        self.channel = self.connection.channel()
        self.channel.basic_qos(prefetch_count=int(os.environ["PREFETCH"]))
        self.open = 0
        self.cancelled = False
        self.terminating = False
        self.tag = self.channel.basic_consume(QUEUE, self.start)

    def start(self, _channel, method, _properties, body):
        self.open += 1
        report(started=body.decode(), redelivered=method.redelivered, open=self.open)
        threading.Thread(target=self.work, args=(method.delivery_tag, body.decode()), daemon=True).start()

    def work(self, tag, job):
        time.sleep(JOB_SECONDS)
        self.connection.add_callback_threadsafe(lambda: self.finish(tag, job))

    def finish(self, tag, job):
        self.channel.basic_ack(tag)
        self.open -= 1
        report(acknowledged=job)

    def cancel(self):
        """Stops accepting jobs; open jobs continue."""
        if not self.cancelled:
            self.cancelled = True
            self.channel.basic_cancel(self.tag)

    def drain(self):
        self.connection.add_callback_threadsafe(self.cancel)

    def terminate(self, *_):
        # The signal handler only sets a flag, because the connection may be in the middle of a frame.
        self.terminating = True

    def run(self):
        while not (self.terminating and self.open == 0):
            if self.terminating:
                self.cancel()
            self.connection.process_data_events(time_limit=0.05)
        self.cancel()
        self.connection.close()


consumer = Consumer()


class Status(BaseHTTPRequestHandler):
    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        self.answer(str(consumer.open))

    def do_POST(self):
        consumer.drain()
        self.answer("")

    def log_message(self, *_):
        pass


if os.environ.get("STATUS_ON"):
    server = ThreadingHTTPServer((os.environ["STATUS_ON"], 8081), Status)
    threading.Thread(target=server.serve_forever, daemon=True).start()
if os.environ["ON_SIGTERM"] == "finishes":
    signal.signal(signal.SIGTERM, consumer.terminate)
consumer.run()
