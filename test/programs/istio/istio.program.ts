/** Runs the driver `istio` with real Envoys that have Istio's arguments and listeners, without its agent and control plane. */
import { describe, expect, test } from "vitest";
import { attempt } from "../../../e2e/host/run.ts";
import { NATIVE_BUILD } from "../../manager/builds.ts";
import { type CaseResults, type RunRequest, requireEnvoys, requireResult } from "../envoy/run-cases.ts";
import { type CaseContext, insideNamespaces } from "../harness/inside-namespaces.ts";
import { requireProgram, skipCase } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { ISTIO_CASES, type IstioResult, istioCaseName } from "./istio-case.ts";
import { checkIstio } from "./istio-checks.ts";
import { runAs, UIDS } from "./istio-ports.ts";

const SCRIPT = new URL("./istio-inside.ts", import.meta.url).pathname;

let caseResults: Promise<CaseResults<IstioResult>> | undefined;

async function runAllCases(context: CaseContext): Promise<CaseResults<IstioResult>> {
  const envoys = await requireEnvoys(context);
  // The redirection needs iptables, and distinguishes the proxy from the app by their user IDs.
  const iptables = await requireProgram("iptables", context);
  const [setpriv = "", ...args] = runAs(UIDS.proxy, [...iptables.command, "--version"]);
  const iptablesCheck = await attempt(setpriv, args);
  if (iptablesCheck.status !== 0) return skipCase(`iptables needs root: ${iptablesCheck.stderr.trim()}`, context);
  const request: RunRequest = { envoys, nativeManagerPath: NATIVE_BUILD.command };
  return insideNamespaces(SCRIPT, request, context);
}

describe("a Pod with Envoy as Istio's sidecar", { timeout: 240_000 }, () => {
  for (const istioCase of ISTIO_CASES) {
    const title = `${istioCase.form} proxy, Envoy ${istioCase.version}, statistics ${istioCase.statistics === "cut" ? "Istio's default" : "all"}`;
    test(`drains inbound traffic and does not interrupt outbound calls: ${title}`, async (context) => {
      caseResults ??= runAllCases(context);
      const result = requireResult(await caseResults, istioCaseName(istioCase));
      await recordResult(result);
      expect(checkIstio(result)).toEqual([]);
    });
  }
});
