"""`BROKER fill QUEUE N` creates a queue of N jobs. `BROKER collect QUEUE N SECONDS` reads up to N remaining jobs within the
time."""
import json
import sys
import time

import pika

broker, command, queue, number, *limit = sys.argv[1:]
connection = pika.BlockingConnection(pika.ConnectionParameters(broker))
channel = connection.channel()
if command == "fill":
    channel.confirm_delivery()
    channel.queue_declare(queue, durable=True)
    for job in range(int(number)):
        channel.basic_publish("", queue, str(job), pika.BasicProperties(delivery_mode=2), mandatory=True)
    print(json.dumps({"filled": int(number)}), flush=True)
else:
    jobs, redelivered, until = [], 0, time.monotonic() + float(limit[0])
    while len(jobs) < int(number) and time.monotonic() < until:
        method, _, body = channel.basic_get(queue)
        if method is None:
            time.sleep(0.05)
            continue
        jobs.append(body.decode())
        redelivered += method.redelivered
    # Without an acknowledgement the jobs return to the queue.
    print(json.dumps({"remaining": jobs, "redelivered": redelivered}), flush=True)
connection.close()
