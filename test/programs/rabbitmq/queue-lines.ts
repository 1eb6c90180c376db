/** One line to print for each scene. Pure. */
import type { BrokerEnd, ConsumerEnd, QueueResult } from "./queue-request.ts";

export function queueLines({ consumers, brokers }: QueueResult): readonly string[] {
  return [
    ...Object.entries(consumers).map(([name, end]) => `a consumer that ${name}: ${consumerWords(end)}`),
    ...Object.entries(brokers).map(([name, end]) => `a broker and ${name}: ${brokerWords(end)}`),
  ];
}

function consumerWords({ redelivered, endSeconds, graceSeconds, outcome, killed, why }: ConsumerEnd): string {
  const words = [
    `${redelivered} redelivered, gone after ${endSeconds} of ${graceSeconds} s`,
    outcome,
    killed ? "killed" : "",
    why,
  ];
  return words.filter((word) => word !== "").join(", ");
}

function brokerWords(end: BrokerEnd): string {
  const { drainSeconds, endSeconds, closedAfterSeconds, closedWith, unconfirmed, outcome, killed, why } = end;
  const words = [
    `stop signal after ${drainSeconds} s, gone after ${endSeconds} s`,
    `client closed after ${closedAfterSeconds} s with ${closedWith}, ${unconfirmed} unconfirmed`,
    outcome,
    killed ? "killed" : "",
    why,
  ];
  return words.filter((word) => word !== "").join(", ");
}
