/** Process 1 of the namespaces that `roll.ts` makes: rolls the variants one after the other. */
import { join } from "node:path";
import { placeOf } from "../../../src/demo/rollout/deployment.ts";
import { untilAccepting } from "./accepting.ts";
import { answerInside, type Surroundings } from "./answer-inside.ts";
import { type RollOutcome, type RollRequest, type RollResult, UPSTREAM } from "./roll-request.ts";
import { rollVariant } from "./roll-variant.ts";

const SAMPLE_APP = join(import.meta.dirname, "../../../src/demo/sample-app.ts");

await answerInside(rolled, (request) => placeOf(request.deployment).namespace);

async function rolled(request: RollRequest, surroundings: Surroundings): Promise<RollResult> {
  const [host = "", port = ""] = UPSTREAM.split(":");
  const upstream = surroundings.processes.start({
    argv: [process.execPath, SAMPLE_APP],
    environment: { ...surroundings.imageEnvironment, LISTEN_ON: host, PORT: port },
    onLine: (line) => process.stderr.write(`upstream: ${line}\n`),
  });
  // A proxy is ready before what stands behind it.
  await untilAccepting(host, Number(port), upstream.isRunning, surroundings.clock);
  const outcomes: Record<string, RollOutcome> = {};
  for (const variant of request.variants) outcomes[variant.name] = await rollVariant(request, variant, surroundings);
  return { manager: surroundings.manager, outcomes };
}
