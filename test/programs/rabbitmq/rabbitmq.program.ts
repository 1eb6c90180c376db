import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { insideNamespaces } from "../harness/inside-namespaces.ts";
import { requireProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { JOBS, type QueueRequest, type QueueResult } from "./queue-request.ts";
import { BROKER_CASES, CONSUMER_CASES } from "./queue-scenarios.ts";

const SCRIPT = join(import.meta.dirname, "queue-inside.ts");

test("RabbitMQ consumers finish their jobs, and brokers drain as docs/guides/rabbitmq.md describes", {
  timeout: 300_000,
}, async (context) => {
  const broker = await requireProgram("rabbitmq", context);
  const pika = await requireProgram("pika", context);
  const folder = await mkdtemp(join(tmpdir(), "rabbit-"));
  try {
    const request: QueueRequest = {
      python: pika.command[0] ?? "",
      pythonPath: pika.environment["PYTHONPATH"] ?? "",
      consumers: CONSUMER_CASES,
      brokers: BROKER_CASES,
      folder,
    };
    const result = await insideNamespaces<QueueResult>(SCRIPT, request, context);
    const versions = { broker: `${broker.version} (${broker.source})`, manager: result.manager };
    await recordResult({ kind: "queue", system: "RabbitMQ", ...versions, ...result });

    for (const { name, expected } of CONSUMER_CASES) {
      const end = result.consumers[name];
      expect(end, name).toMatchObject(expected);
      // Each job is acknowledged once or still in the queue, so none is lost or acknowledged twice.
      const jobs = [...(end?.acknowledged ?? []), ...(end?.remaining ?? [])];
      expect(
        jobs.toSorted((first, second) => Number(first) - Number(second)),
        name,
      ).toEqual(Array.from({ length: JOBS }, (_, job) => String(job)));
      // The Pod ends when its jobs are finished, long before its grace period of two hours.
      expect(end?.endSeconds, name).toBeLessThan(60);
    }
    for (const { name, expected } of BROKER_CASES) expect(result.brokers[name], name).toMatchObject(expected);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
