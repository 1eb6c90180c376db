"""Connects to a broker and stays connected. The kind of client is `pausing` (idle after publishing), `acknowledging` (idle
after acknowledging jobs) or `busy` (publishes continuously)."""
import json
import sys
import time

import pika
from pika import exceptions

broker, kind = sys.argv[1:]
confirmed, unconfirmed, acknowledged = 0, 0, 0


def report(**fields):
    print(json.dumps(fields), flush=True)


connection = pika.BlockingConnection(pika.ConnectionParameters(broker))
channel = connection.channel()
channel.confirm_delivery()
channel.queue_declare("work", durable=True)


def publish():
    global confirmed, unconfirmed
    unconfirmed += 1
    channel.basic_publish("", "work", "job", pika.BasicProperties(delivery_mode=2), mandatory=True)
    unconfirmed -= 1
    confirmed += 1


def acknowledge(_channel, method, _properties, _body):
    global acknowledged
    time.sleep(0.1)
    channel.basic_ack(method.delivery_tag)
    acknowledged += 1


try:
    for _ in range(10):
        publish()
    if kind == "acknowledging":
        channel.basic_qos(prefetch_count=1)
        channel.basic_consume("work", acknowledge)
        while acknowledged < 10:
            connection.process_data_events(time_limit=0.1)
    report(steady=True)
    while True:
        if kind == "busy":
            publish()
            time.sleep(0.02)
        else:
            connection.process_data_events(time_limit=1)
except exceptions.ConnectionClosedByBroker as closed:
    report(closed=closed.reply_code, confirmed=confirmed, unconfirmed=unconfirmed)
except exceptions.AMQPError as error:
    report(closed=repr(error), confirmed=confirmed, unconfirmed=unconfirmed)
