/** Runs the driver `envoy` with real Envoys: no request is lost, and no drain waits longer than its clients need. */
import { describe, expect, test } from "vitest";
import { NATIVE_BUILD } from "../../manager/builds.ts";
import { insideNamespaces, type Stoppable } from "../harness/inside-namespaces.ts";
import { requiredProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { envoyCases, nameOf } from "./envoy-cases.ts";
import { checkEnvoy } from "./envoy-checks.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import { type CaseResults, requiredEnvoys, resultOf } from "./run-lanes.ts";

const INSIDE = new URL("./envoy-inside.ts", import.meta.url).pathname;

let running: Promise<CaseResults<EnvoyResult>> | undefined;

async function runAllCases(context: Stoppable): Promise<CaseResults<EnvoyResult>> {
  const envoys = await requiredEnvoys(context);
  const http3 = await requiredProgram("aioquic", context);
  const grpcio = await requiredProgram("grpcio", context);
  return insideNamespaces(INSIDE, { envoys, http3, grpcio, native: NATIVE_BUILD.command }, context);
}

describe("a drain ends on time and no request fails", { timeout: 300_000 }, () => {
  for (const one of envoyCases(NATIVE_BUILD.command !== "")) {
    // Not test.for: it shortens values in titles.
    test(`of Envoy ${one.version} by the ${one.manager === "node" ? "Node" : "native"} manager, with ${one.scenario.title}`, async (context) => {
      running ??= runAllCases(context);
      const result = resultOf(await running, nameOf(one));
      await recordResult(result);
      expect(checkEnvoy(one.scenario, result)).toEqual([]);
    });
  }
});
