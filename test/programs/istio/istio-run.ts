/** Ends one Pod of a mesh under load from outside and calls from inside, and says what came of both. */
import { realClock } from "../../../src/demo/clock.ts";
import type { PodEvent } from "../../../src/demo/pods/running-pod.ts";
import { drainSummary, endOf } from "../../../src/demo/report/pod-end.ts";
import { hookStatus, seconds } from "../envoy/case-run.ts";
import type { EnvoyProgram } from "../envoy/gateway-pod.ts";
import { http1Load } from "../envoy/http1-clients.ts";
import { startLagLog } from "../envoy/lag-log.ts";
import { DELAY_MS, LAG_MS, type Place, QUIET_MS } from "../envoy/scene.ts";
import type { Stage, StagedPod } from "../envoy/stage.ts";
import { until } from "../harness/until.ts";
import type { Calls } from "./istio-app.ts";
import { type IstioCase, istioName } from "./istio-case.ts";
import { istioPod } from "./istio-pod.ts";
import { as, ISTIO, UIDS } from "./istio-ports.ts";
import type { IstioResult } from "./istio-result.ts";

type IstioParts = {
  readonly stage: Stage;
  readonly envoy: EnvoyProgram;
  readonly manager: IstioResult["manager"];
  readonly managerProgram: readonly string[];
  readonly folder: string;
};

const APP = new URL("./istio-app.ts", import.meta.url).pathname;
const NO_CLIENTS = { command: [], environment: {} };
const STEADY_MS = 1_500;
const AFTERWARDS_MS = 500;

/** Half of them never leave by themselves. */
const LOAD = { clients: 10, paceMs: 100, livesMs: (client: number) => (client % 2 === 0 ? 5_000 : Infinity) };
/** A scraper of the proxy's statistics, which asks all the time and is no traffic of the app. */
const SCRAPES = { clients: 1, paceMs: 300, livesMs: () => Infinity };

export async function runIstio(one: IstioCase, parts: IstioParts): Promise<IstioResult> {
  const { stage, envoy, folder } = parts;
  const manifest = await istioPod({
    ...one,
    name: istioName(one),
    envoy,
    folder,
    upstream: stage.upstream,
    app: [process.execPath, APP],
  });
  const staged = await stage.startPod(manifest, as(UIDS.manager, parts.managerProgram));
  try {
    await until("the Pod is ready", () => isReady(staged.pod), staged.pod);
    return await ended(one, parts, staged);
  } finally {
    await staged.kill();
  }
}

function isReady(pod: StagedPod["pod"]): boolean {
  const told = (container: string) =>
    pod.events.some((event) => event.container === container && event.what === "line");
  return pod.isReady() && told("lastcall") && told("app");
}

async function ended(one: IstioCase, parts: IstioParts, staged: StagedPod): Promise<IstioResult> {
  const { stage, manager } = parts;
  const { pod, managerPeakKib, waitedMs } = staged;
  const place: Place = {
    clock: realClock,
    pod: pod.address,
    from: stage.network.trafficAddress,
    other: stage.upstream,
    http3: NO_CLIENTS,
    grpcio: NO_CLIENTS,
  };
  const clients = await http1Load(LOAD)(place);
  const scraper = await http1Load({ ...SCRAPES, path: "/stats/prometheus", port: ISTIO.stats })(place);
  await realClock.wait(STEADY_MS);
  const lag = startLagLog(waitedMs);
  const deletedMs = realClock.nowMs();
  const gone = pod.remove();
  const withdrawal = realClock.wait(LAG_MS).then(clients.withdraw);
  const hook = await hookStatus(pod.address, "app");
  const peakKib = managerPeakKib();
  const lastMs = clients.lastMs();
  await gone;
  lag.stop();
  await withdrawal;
  await realClock.wait(AFTERWARDS_MS);
  await Promise.all([clients.stop(), scraper.stop()]);
  const end = endOf(pod, { forwarded: [], propagationMs: 0, slicesWithdrawnMs: undefined });
  const releasedMs = eventMs(pod.events, "app", "SIGTERM");
  const due = Math.max(end.triggeredMs + DELAY_MS + connectedMs(one), lastMs + QUIET_MS);
  const summary = drainSummary(linesOfManager(pod.events));
  return {
    kind: "istio",
    system: `Istio's arguments, Envoy ${one.version}, ${one.form}, statistics ${one.statistics}, ${manager}`,
    ...one,
    manager,
    releasedSeconds: seconds(releasedMs - deletedMs),
    afterTrafficSeconds: seconds(Math.max(0, releasedMs - Math.max(deletedMs, lastMs))),
    overWaitSeconds: seconds(releasedMs - due),
    lagSeconds: seconds(lag.between(deletedMs, end.triggeredMs) + lag.between(due - QUIET_MS, releasedMs)),
    hookStatus: hook,
    hooksFailed: pod.events.filter(({ what }) => what === "FailedPreStopHook" || what === "hook-overran").length,
    answered: clients.tally.answered,
    failures: clients.tally.failures,
    outcome: summary?.outcome ?? "",
    why: summary?.why ?? "",
    managerPeakKib: peakKib,
    calls: callsIn(pod.events),
    proxyAfterAppSeconds: seconds(eventMs(pod.events, "istio-proxy", "SIGTERM") - eventMs(pod.events, "app", "exited")),
    driverNote: noteOfDriver(pod.events),
  };
}

/** A driver that counts gives clients that are connected to the app a quiet period after he was told: the proxy always is. */
function connectedMs({ statistics }: IstioCase): number {
  return statistics === "all" ? QUIET_MS : 0;
}

function linesOfManager(events: readonly PodEvent[]): readonly string[] {
  return events
    .filter(({ container, what }) => container === "lastcall" && what === "line")
    .map(({ detail }) => detail);
}

function eventMs(events: readonly PodEvent[], container: string, what: PodEvent["what"]): number {
  return events.find((event) => event.container === container && event.what === what)?.atMs ?? Number.NaN;
}

function callsIn(events: readonly PodEvent[]): Calls {
  const line = events.findLast(({ container, what }) => container === "app" && what === "line")?.detail ?? "";
  if (!line.startsWith("{")) throw new Error(`the app told nothing of its calls: ${line}`);
  return JSON.parse(line);
}

function noteOfDriver(events: readonly PodEvent[]): string {
  return linesOfManager(events).find((line) => line.includes("driver cannot count")) ?? "";
}
