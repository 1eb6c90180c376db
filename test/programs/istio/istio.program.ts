/** The driver `istio` before real Envoys with Istio's arguments and listeners; Istio's agent and control plane are not run. */
import { describe, expect, test } from "vitest";
import { attempt } from "../../../e2e/host/run.ts";
import { NATIVE_BUILD } from "../../manager/builds.ts";
import { type Played, requiredEnvoys, resultOf } from "../envoy/play-lanes.ts";
import { insideNamespaces, type Stoppable } from "../harness/inside-namespaces.ts";
import { missing, requiredProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { ISTIO_CASES, type IstioResult, istioName } from "./istio-case.ts";
import { as, UIDS } from "./istio-ports.ts";
import { istioShortfalls } from "./istio-verdict.ts";

const INSIDE = new URL("./istio-inside.ts", import.meta.url).pathname;

let playing: Promise<Played<IstioResult>> | undefined;

/** All cases are played at once, as most of their time is waiting. */
async function play(context: Stoppable): Promise<Played<IstioResult>> {
  const envoys = await requiredEnvoys(context);
  // The redirection tells the proxy from the app by whom they run as.
  const iptables = await requiredProgram("iptables", context);
  const [setpriv = "", ...words] = as(UIDS.proxy, [...iptables.command, "--version"]);
  const able = await attempt(setpriv, words);
  if (able.status !== 0) return missing(`it takes root: ${able.complaint.trim()}`, context);
  return insideNamespaces(INSIDE, { envoys, native: NATIVE_BUILD.command }, context);
}

describe("a Pod with Envoy as Istio's sidecar", { timeout: 240_000 }, () => {
  for (const one of ISTIO_CASES) {
    const says = `${one.form} proxy, Envoy ${one.version}, statistics ${one.statistics === "cut" ? "as Istio cuts them" : "whole"}`;
    test(`drains what comes in and keeps what goes out to the end: ${says}`, async (context) => {
      playing ??= play(context);
      const result = resultOf(await playing, istioName(one));
      await recordResult(result);
      expect(istioShortfalls(result)).toEqual([]);
    });
  }
});
