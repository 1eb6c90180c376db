/** The driver `istio` before real Envoys with Istio's arguments and listeners; Istio's agent and control plane are not run. */
import { describe, expect, test } from "vitest";
import { attempt } from "../../../e2e/host/run.ts";
import { NATIVE_BUILD } from "../../manager/builds.ts";
import type { PlayRequest } from "../envoy/play-request.ts";
import { insideNamespaces, type Stoppable } from "../harness/inside-namespaces.ts";
import { missing, requiredProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { ISTIO_CASES, istioName } from "./istio-case.ts";
import type { IstioPlayed } from "./istio-inside.ts";
import { as, UIDS } from "./istio-ports.ts";
import { istioShortfalls } from "./istio-verdict.ts";

const INSIDE = new URL("./istio-inside.ts", import.meta.url).pathname;

const NO_CLIENTS = { command: [], environment: {} };

let playing: Promise<IstioPlayed> | undefined;

/** All cases are played at once, as most of their time is waiting. */
function played(context: Stoppable): Promise<IstioPlayed> {
  playing ??= play(context);
  return playing;
}

async function play(context: Stoppable): Promise<IstioPlayed> {
  const envoys = {
    "1.40": await requiredProgram("envoy-1.40", context),
    "1.36": await requiredProgram("envoy-1.36", context),
  };
  // The redirection tells the proxy from the app by whom they run as.
  const iptables = await requiredProgram("iptables", context);
  const [setpriv = "", ...words] = as(UIDS.proxy, [...iptables.command, "--version"]);
  const able = await attempt(setpriv, words);
  if (able.status !== 0) return missing(`it takes root: ${able.complaint.trim()}`, context);
  const request: PlayRequest = {
    envoys,
    http3: NO_CLIENTS,
    grpcio: NO_CLIENTS,
    native: NATIVE_BUILD.command,
    only: [],
  };
  return insideNamespaces<IstioPlayed>(INSIDE, request, context);
}

describe("a Pod with Envoy as Istio's sidecar", { timeout: 240_000 }, () => {
  for (const one of ISTIO_CASES) {
    const says = `${one.form} proxy, Envoy ${one.version}, statistics ${one.statistics === "cut" ? "as Istio cuts them" : "whole"}`;
    test(`drains what comes in and keeps what goes out to the end: ${says}`, async (context) => {
      const of = (await played(context))[istioName(one)];
      if (of === undefined) throw new Error("the case was not played");
      if ("error" in of) throw new Error(of.error);
      await recordResult(of.result);
      expect(istioShortfalls(of.result)).toEqual([]);
    });
  }
});
