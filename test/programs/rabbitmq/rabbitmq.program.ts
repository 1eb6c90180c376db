import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { insideNamespaces } from "../harness/inside-namespaces.ts";
import { requiredProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { JOBS, type QueueRequest, type QueueResult } from "./queue-request.ts";
import { BROKERS, CONSUMERS } from "./queue-scenes.ts";

const INSIDE = join(import.meta.dirname, "queue-inside.ts");

test("consumers finish what they have, and brokers end as the guide says", { timeout: 300_000 }, async (context) => {
  const broker = await requiredProgram("rabbitmq", context);
  const pika = await requiredProgram("pika", context);
  const folder = await mkdtemp(join(tmpdir(), "rabbit-"));
  try {
    const request: QueueRequest = {
      python: pika.command[0] ?? "",
      pythonPath: pika.environment["PYTHONPATH"] ?? "",
      consumers: CONSUMERS,
      brokers: BROKERS,
      folder,
    };
    const result = await insideNamespaces<QueueResult>(INSIDE, request, context);
    const versions = { broker: `${broker.version} (${broker.source})`, manager: result.manager };
    await recordResult({ kind: "queue", system: "RabbitMQ", ...versions, ...result });

    for (const { name, expects } of CONSUMERS) {
      const seen = result.consumers[name];
      expect(seen, name).toMatchObject(expects);
      // Each job is in one hand: none is lost, none is done twice.
      const hands = [...(seen?.acknowledged ?? []), ...(seen?.left ?? [])];
      expect(
        hands.toSorted((one, other) => Number(one) - Number(other)),
        name,
      ).toEqual(Array.from({ length: JOBS }, (_, job) => String(job)));
      // Hours of grace end with the work.
      expect(seen?.endSeconds, name).toBeLessThan(60);
    }
    for (const { name, expects } of BROKERS) expect(result.brokers[name], name).toMatchObject(expects);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
