/** Writes the two tables of docs/guides/rabbitmq.md from measured results. Pure. */
import { replaceSection, table } from "../results/page.ts";
import type { OtherResult } from "../results/program-result.ts";
import type { BrokerEnd, ConsumerEnd, QueueResult } from "./queue-request.ts";
import { BROKER_CASES, type BrokerCase, CONSUMER_CASES, type ConsumerCase } from "./queue-scenarios.ts";

export type RecordedQueues = OtherResult & QueueResult & { readonly broker: string };

export function isQueueResult(result: OtherResult): result is RecordedQueues {
  return result.kind === "queue";
}

export function insertQueueTables(page: string, result: RecordedQueues): string {
  const consumers = CONSUMER_CASES.map((row) => consumerRow(row, requireEnd(row.name, result.consumers)));
  const brokers = BROKER_CASES.map((row) => brokerRow(row, requireEnd(row.name, result.brokers)));
  return replaceSection(
    replaceSection(page, "consumers", table([CONSUMER_HEAD, ...consumers])),
    "brokers",
    table([BROKER_HEAD, ...brokers]),
  );
}

const CONSUMER_HEAD = ["at SIGTERM the consumer", "lastcall", "redelivered", "stopped after", "grace period"];

function consumerRow({ name, lastcall }: ConsumerCase, end: ConsumerEnd): string[] {
  const [behaviour = "", settings] = name.split("; ");
  const cells = [behaviour, lastcall ? (settings ?? "yes") : "without", `**${end.redelivered}** of 4`];
  return [...cells, formatSeconds(end.endSeconds), `${end.graceSeconds} s`];
}

const BROKER_HEAD = [
  "the client",
  "stop signal after",
  "the drain ended as",
  "connection closed after",
  "unconfirmed messages",
];

function brokerRow({ name }: BrokerCase, end: BrokerEnd): string[] {
  const cells = [name, formatSeconds(end.drainSeconds), end.outcome === "" ? "not injected" : end.outcome];
  return [...cells, formatSeconds(end.closedAfterSeconds), String(end.unconfirmed)];
}

function requireEnd<T>(name: string, ends: Readonly<Record<string, T>>): T {
  const end = ends[name];
  if (end === undefined) throw new Error(`no result of "${name}"; run: npm run test:programs`);
  return end;
}

const formatSeconds = (value: number) => `${value.toFixed(1)} s`;
