/** Runs the driver `envoy` with real Envoys: requests are not lost, and drains do not wait longer than their clients need. */
import { describe, expect, test } from "vitest";
import { NATIVE_BUILD } from "../../manager/builds.ts";
import { type CaseContext, insideNamespaces } from "../harness/inside-namespaces.ts";
import { requireProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { caseName, envoyCases } from "./envoy-cases.ts";
import { checkEnvoy } from "./envoy-checks.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import type { Peers } from "./envoy-scenario.ts";
import { type CaseResults, type RunRequest, requireEnvoys, requireResult } from "./run-cases.ts";

const SCRIPT = new URL("./envoy-inside.ts", import.meta.url).pathname;

let caseResults: Promise<CaseResults<EnvoyResult>> | undefined;

async function runAllCases(context: CaseContext): Promise<CaseResults<EnvoyResult>> {
  const envoys = await requireEnvoys(context);
  const http3 = await requireProgram("aioquic", context);
  const grpcio = await requireProgram("grpcio", context);
  const request: RunRequest & Peers = { envoys, http3, grpcio, nativeManagerPath: NATIVE_BUILD.command };
  return insideNamespaces(SCRIPT, request, context);
}

describe("a drain ends on time and no request fails", { timeout: 300_000 }, () => {
  for (const envoyCase of envoyCases(NATIVE_BUILD.command !== "")) {
    // test.for would shorten the values in titles.
    test(`with Envoy ${envoyCase.version}, the ${envoyCase.manager === "node" ? "Node" : "native"} manager and ${envoyCase.scenario.title}`, async (context) => {
      caseResults ??= runAllCases(context);
      const result = requireResult(await caseResults, caseName(envoyCase));
      await recordResult(result);
      expect(checkEnvoy(envoyCase.scenario, result)).toEqual([]);
    });
  }
});
