"""Works on several jobs of a queue at once. What it does when it is told to stop is chosen by ON_SIGTERM and STATUS_ON."""
import json
import os
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pika

QUEUE = os.environ["QUEUE"]
JOB_SECONDS = float(os.environ["JOB_SECONDS"])


def tell(**what):
    print(json.dumps(what), flush=True)


class Consumer:
    def __init__(self):
        self.connection = pika.BlockingConnection(pika.ConnectionParameters(os.environ["BROKER"]))
        self.channel = self.connection.channel()
        self.channel.basic_qos(prefetch_count=int(os.environ["PREFETCH"]))
        self.open = 0
        self.stopping = False
        self.leaving = False
        self.tag = self.channel.basic_consume(QUEUE, self.begin)

    def begin(self, _channel, method, _properties, body):
        self.open += 1
        tell(began=body.decode(), redelivered=method.redelivered, open=self.open)
        threading.Thread(target=self.work, args=(method.delivery_tag, body.decode()), daemon=True).start()

    def work(self, tag, job):
        time.sleep(JOB_SECONDS)
        self.connection.add_callback_threadsafe(lambda: self.finish(tag, job))

    def finish(self, tag, job):
        self.channel.basic_ack(tag)
        self.open -= 1
        tell(acknowledged=job)

    def stop(self):
        """Takes no more jobs; those it has go on."""
        if not self.stopping:
            self.stopping = True
            self.channel.basic_cancel(self.tag)

    def told(self):
        self.connection.add_callback_threadsafe(self.stop)

    def leave(self, *_):
        # Not from within the signal: the connection may be in the middle of a frame.
        self.leaving = True

    def run(self):
        while not (self.leaving and self.open == 0):
            if self.leaving:
                self.stop()
            self.connection.process_data_events(time_limit=0.05)
        self.stop()
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
        consumer.told()
        self.answer("")

    def log_message(self, *_):
        pass


if os.environ.get("STATUS_ON"):
    server = ThreadingHTTPServer((os.environ["STATUS_ON"], 8081), Status)
    threading.Thread(target=server.serve_forever, daemon=True).start()
if os.environ["ON_SIGTERM"] == "finishes":
    signal.signal(signal.SIGTERM, consumer.leave)
consumer.run()
