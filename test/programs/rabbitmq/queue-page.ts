/** Writes the two tables of docs/guides/rabbitmq.md from measured results. Pure. */
import { replaceSection, table } from "../results/page.ts";
import type { OtherResult } from "../results/program-result.ts";
import type { BrokerEnd, ConsumerEnd, QueueResult } from "./queue-request.ts";
import { BROKERS, type BrokerCase, CONSUMERS, type ConsumerCase } from "./queue-scenarios.ts";

export type RecordedQueues = OtherResult & QueueResult & { readonly broker: string };

export function isQueues(result: OtherResult): result is RecordedQueues {
  return result.kind === "queue";
}

export function withQueues(page: string, result: RecordedQueues): string {
  const consumers = CONSUMERS.map((row) => consumerRow(row, requiredEnd(row.name, result.consumers)));
  const brokers = BROKERS.map((row) => brokerRow(row, requiredEnd(row.name, result.brokers)));
  return replaceSection(
    replaceSection(page, "consumers", table([CONSUMER_HEAD, ...consumers])),
    "brokers",
    table([BROKER_HEAD, ...brokers]),
  );
}

const CONSUMER_HEAD = ["at SIGTERM the consumer", "lastcall", "redelivered", "stopped after", "grace period"];

function consumerRow({ name, lastcall }: ConsumerCase, end: ConsumerEnd): string[] {
  const [behaviour = "", more] = name.split("; ");
  const cells = [behaviour, lastcall ? (more ?? "yes") : "without", `**${end.redelivered}** of 4`];
  return [...cells, seconds(end.endSeconds), `${end.graceSeconds} s`];
}

const BROKER_HEAD = [
  "the client",
  "stop signal after",
  "the drain ended as",
  "connection closed after",
  "unconfirmed messages",
];

function brokerRow({ name }: BrokerCase, end: BrokerEnd): string[] {
  const cells = [name, seconds(end.drainSeconds), end.outcome === "" ? "not injected" : end.outcome];
  return [...cells, seconds(end.closedAfterSeconds), String(end.unconfirmed)];
}

function requiredEnd<T>(name: string, among: Readonly<Record<string, T>>): T {
  const end = among[name];
  if (end === undefined) throw new Error(`no result of "${name}"; run: npm run test:programs`);
  return end;
}

const seconds = (value: number) => `${value.toFixed(1)} s`;
