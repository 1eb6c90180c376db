/** The two tables of the guide to queues, from what the cases measured. Pure. */
import { table, within } from "../results/page.ts";
import type { OtherResult } from "../results/program-result.ts";
import type { BrokerEnd, ConsumerEnd, QueueResult } from "./queue-request.ts";
import { BROKERS, type BrokerCase, CONSUMERS, type ConsumerCase } from "./queue-scenes.ts";

export type RecordedQueues = OtherResult & QueueResult & { readonly broker: string };

export function isQueues(result: OtherResult): result is RecordedQueues {
  return result.kind === "queue";
}

/** @throws where the page has no marks, or a scene was not measured */
export function withQueues(page: string, result: RecordedQueues): string {
  const consumers = CONSUMERS.map((row) => consumerRow(row, found(row.name, result.consumers)));
  const brokers = BROKERS.map((row) => brokerRow(row, found(row.name, result.brokers)));
  return within(
    within(page, "consumers", table([CONSUMER_HEAD, ...consumers])),
    "brokers",
    table([BROKER_HEAD, ...brokers]),
  );
}

const CONSUMER_HEAD = ["at SIGTERM the consumer", "lastcall", "delivered again", "gone after", "of a grace period of"];

function consumerRow({ name, lastcall }: ConsumerCase, end: ConsumerEnd): string[] {
  const [what = "", more] = name.split("; ");
  const cells = [what, lastcall ? (more ?? "yes") : "without", `**${end.redelivered}** of 4`];
  return [...cells, seconds(end.endSeconds), `${end.graceSeconds} s`];
}

const BROKER_HEAD = [
  "the client",
  "stop signal after",
  "the drain ended as",
  "the client is closed after",
  "messages without a confirm",
];

function brokerRow({ name }: BrokerCase, end: BrokerEnd): string[] {
  const cells = [name, seconds(end.drainSeconds), end.outcome === "" ? "left alone" : end.outcome];
  return [...cells, seconds(end.closedAfterSeconds), String(end.unconfirmed)];
}

function found<T>(name: string, among: Readonly<Record<string, T>>): T {
  const end = among[name];
  if (end === undefined) throw new Error(`not measured: ${name}; run: npm run test:programs`);
  return end;
}

const seconds = (value: number) => `${value.toFixed(1)} s`;
