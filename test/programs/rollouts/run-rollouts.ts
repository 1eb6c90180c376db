/** Rolls a Deployment many times on this machine, in network namespaces that end with it. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { offerNamespaces, runInside } from "../../../src/demo/network/namespace-network.ts";
import type { FoundProgram } from "../install/program-of.ts";
import { appDeployment, type Driver, envoyDeployment } from "./deployments.ts";
import { gatewayConfig } from "./gateway-config.ts";
import type { RolloutsRequest, RolloutsResult } from "./rollouts-request.ts";

const INSIDE = join(import.meta.dirname, "rollouts-inside.ts");

export type RolloutsOrder = Omit<RolloutsRequest, "deployment" | "upstream"> & {
  readonly driver: Driver;
  /** Needed where the driver is `envoy`. */
  readonly envoy: FoundProgram | undefined;
};

/** Why nothing can be rolled on this machine; empty when it can. */
export function whyImpossible(): string {
  const offer = offerNamespaces();
  return offer.possible ? "" : `network namespaces cannot be made here: ${offer.why}`;
}

/** Rejects where namespaces are impossible, or when a Pod or a process of the run does not do its part. */
export async function runRollouts(
  { driver, envoy, ...order }: RolloutsOrder,
  stop: AbortSignal,
): Promise<RolloutsResult> {
  const offer = offerNamespaces();
  if (!offer.possible) throw new Error(whyImpossible());
  const scratch = await mkdtemp(join(tmpdir(), "lastcall-rollouts-"));
  const files = {
    request: join(scratch, "request.json"),
    result: join(scratch, "result.json"),
    envoy: join(scratch, "envoy.json"),
  };
  try {
    const deployment =
      driver === "envoy"
        ? envoyDeployment(requireEnvoy(envoy), order.settings, files.envoy)
        : appDeployment(process.execPath, order.settings, driver);
    const request: RolloutsRequest = { ...order, deployment, upstream: driver === "envoy" };
    await writeFile(files.envoy, JSON.stringify(gatewayConfig()));
    await writeFile(files.request, JSON.stringify(request));
    const status = await runInside({
      prefix: offer.prefix,
      command: [process.execPath, INSIDE, files.request, files.result, scratch],
      environment: process.env,
      stop,
    });
    if (status !== 0) throw new Error(`the rollouts ended with status ${status}; their own words are above`);
    return JSON.parse(await readFile(files.result, "utf8"));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function requireEnvoy(program: FoundProgram | undefined): FoundProgram {
  if (program === undefined) throw new Error("rollouts of the driver envoy need an Envoy");
  return program;
}
