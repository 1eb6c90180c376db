import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { documentsOf } from "../../guides/manifests.ts";
import { insertQueueTables, type RecordedQueues } from "./queue-page.ts";
import type { BrokerEnd, ConsumerEnd } from "./queue-request.ts";
import { BROKER_CASES, CONSUMER_ANNOTATIONS, CONSUMER_CASES } from "./queue-scenarios.ts";

const ROOT = join(import.meta.dirname, "../../..");
const GUIDE = readFileSync(join(ROOT, "docs/guides/rabbitmq.md"), "utf8");

const facts = {
  drainSeconds: 5.04,
  stopSeconds: 1.1,
  killed: false,
  outcome: "drained",
  why: "quiet",
  endSeconds: 6.25,
};
const consumer: ConsumerEnd = { ...facts, graceSeconds: 7_270, acknowledged: [], remaining: [], redelivered: 3 };
const broker: BrokerEnd = {
  ...facts,
  injected: true,
  closedAfterSeconds: 5.17,
  unconfirmed: 1,
};

const recordedQueues: RecordedQueues = {
  kind: "queue",
  system: "RabbitMQ",
  broker: "3.10.8 (Debian)",
  manager: "native",
  consumers: Object.fromEntries(CONSUMER_CASES.map(({ name }) => [name, consumer])),
  brokers: Object.fromEntries(BROKER_CASES.map(({ name }) => [name, { ...broker, outcome: "" }])),
};

describe("docs/guides/rabbitmq.md", () => {
  const page = insertQueueTables(GUIDE, recordedQueues);

  test("lists the redelivered jobs and the end of each consumer", () => {
    expect(page).toContain("| ends at its stop signal | without | **3** of 4 | 6.3 s | 7270 s |");
    expect(page).toContain("| ends at its stop signal | counts its jobs | **3** of 4 | 6.3 s | 7270 s |");
  });

  test("lists the outcome of each broker's drain and the effect on its client", () => {
    expect(page).toContain("| a publisher that pauses | 5.0 s | not injected | 5.2 s | 1 |");
  });

  test("keeps the text around its tables if the tables are written again", () => {
    expect(insertQueueTables(page, recordedQueues)).toBe(page);
    expect(page.slice(0, 200)).toBe(GUIDE.slice(0, 200));
  });

  test("is not written if the run lacks a scenario", () => {
    expect(() => insertQueueTables(GUIDE, { ...recordedQueues, consumers: {} })).toThrow(
      'no result of "ends at its stop signal"',
    );
  });

  test("describes the annotations of examples/rabbitmq.yaml", () => {
    const manifest = readFileSync(join(ROOT, "examples/rabbitmq.yaml"), "utf8");
    const annotations = documentsOf(manifest)
      .map((document) => parse(JSON.stringify(document)))
      .map((document) => document.spec?.template?.metadata?.annotations);
    expect(annotations).toContainEqual(CONSUMER_ANNOTATIONS);
  });
});
