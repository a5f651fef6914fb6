"""A librdkafka consumer in a group: python consumer.py '{"config": {}, "topics": [], "commit_ms": 0, "max": 0}'.

It says "assigned t-0,t-1" whenever its assignment changed, "committed t-0=5,..." for each commit and "failed ...",
and leaves at the end of its input.
"""

import json
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaException, TopicPartition

options = json.loads(sys.argv[1])
stop = threading.Event()
owned, read, state = set(), {}, {"consumed": 0, "changed": False}


def say(word, items):
    print(word, ",".join(sorted(items)), flush=True)


def commit(consumer, kept=lambda key: True):
    due = [TopicPartition(t, p, read.pop((t, p))) for t, p in list(read) if kept((t, p))]
    if not due or options["commit_ms"] == 0:
        return
    try:
        done = consumer.commit(offsets=due, asynchronous=False)
    except KafkaException as e:  # in the middle of a rebalance: the next owner reads again
        print("failed", e, flush=True)
        return
    say("committed", [f"{p.topic}-{p.partition}={p.offset}" for p in done])


def full():
    return options["max"] > 0 and state["consumed"] >= options["max"]


# The two callbacks get what was added or taken away under cooperative-sticky, and the whole under the others.
def on_assign(consumer, partitions):
    owned.update((p.topic, p.partition) for p in partitions)
    state["changed"] = True


def on_revoke(consumer, partitions):
    gone = {(p.topic, p.partition) for p in partitions}
    commit(consumer, lambda key: key in gone)
    owned.difference_update(gone)
    state["changed"] = True


def follow_input():
    sys.stdin.read()
    stop.set()


threading.Thread(target=follow_input, daemon=True).start()
consumer = Consumer({"enable.auto.commit": False, "auto.offset.reset": "earliest", **options["config"]})
consumer.subscribe(options["topics"], on_assign=on_assign, on_revoke=on_revoke)
committed_at = time.monotonic()
while not stop.is_set():
    message = consumer.poll(0.1)
    if state["changed"]:
        say("assigned", [f"{t}-{p}" for t, p in owned])
        state["changed"] = False
        if full():
            consumer.pause([TopicPartition(t, p) for t, p in owned])
    if message is not None and message.error():
        print("failed", message.error(), flush=True)
    elif message is not None and not full():
        state["consumed"] += 1
        read[(message.topic(), message.partition())] = message.offset() + 1
        if full():
            consumer.pause([TopicPartition(t, p) for t, p in owned])
            commit(consumer)
    if time.monotonic() - committed_at >= options["commit_ms"] / 1000:
        commit(consumer)
        committed_at = time.monotonic()
commit(consumer)
consumer.close()
