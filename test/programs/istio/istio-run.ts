/** Ends one Pod of a mesh under load from outside and calls from inside, and says what came of both. */
import { realClock } from "../../../src/demo/clock.ts";
import type { PodEvent } from "../../../src/demo/pods/running-pod.ts";
import { drainSummary } from "../../../src/demo/report/pod-end.ts";
import { http1Load } from "../envoy/http1-clients.ts";
import { eventMs, measureEnd, seconds } from "../envoy/measured-end.ts";
import { DELAY_MS, LAG_MS, QUIET_MS } from "../envoy/scene.ts";
import type { Stage, StagedPod } from "../envoy/stage.ts";
import { until } from "../harness/until.ts";
import type { CommandLine } from "../install/program-of.ts";
import type { Calls } from "./istio-app.ts";
import { type IstioCase, type IstioResult, istioName } from "./istio-case.ts";
import { istioPod } from "./istio-pod.ts";
import { as, ISTIO, UIDS } from "./istio-ports.ts";

type IstioParts = {
  readonly stage: Stage;
  readonly envoy: CommandLine;
  readonly manager: IstioResult["manager"];
  readonly managerProgram: readonly string[];
  readonly folder: string;
};

const APP = new URL("./istio-app.ts", import.meta.url).pathname;
const STEADY_MS = 1_500;

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
    pod.events.some((event) => event.container === container && event.type === "line");
  return pod.isReady() && told("lastcall") && told("app");
}

async function ended(one: IstioCase, { stage, manager }: IstioParts, staged: StagedPod): Promise<IstioResult> {
  const { pod } = staged;
  const place = {
    clock: realClock,
    pod: pod.address,
    from: stage.network.trafficAddress,
    other: stage.upstream,
  };
  const load = await http1Load(LOAD)(place);
  const scraper = await http1Load({ ...SCRAPES, path: "/stats/prometheus", port: ISTIO.stats })(place);
  const clients = { ...load, stop: async () => void (await Promise.all([load.stop(), scraper.stop()])) };
  await realClock.wait(STEADY_MS);
  const { end } = await measureEnd({
    staged,
    clients,
    container: "app",
    lagMs: LAG_MS,
    dueMs: ({ triggeredMs, lastMs }) => Math.max(triggeredMs + DELAY_MS + connectedMs(one), lastMs + QUIET_MS),
  });
  const { events } = pod;
  const lines = linesOfManager(events);
  // A classic proxy is held after the app has left, and the report comes then.
  const summary = drainSummary(lines);
  return {
    kind: "istio",
    system: `Istio's arguments, Envoy ${one.version}, ${one.form}, statistics ${one.statistics}, ${manager}`,
    ...one,
    manager,
    ...end,
    outcome: summary?.outcome ?? "",
    why: summary?.why ?? "",
    calls: callsIn(events),
    proxyAfterAppSeconds: seconds(eventMs(events, "istio-proxy", "SIGTERM") - eventMs(events, "app", "exited")),
    driverNote: lines.find((line) => line.includes("driver cannot count")) ?? "",
  };
}

/** A driver that counts gives clients that are connected to the app a quiet period after he was told: the proxy always is. */
function connectedMs({ statistics }: IstioCase): number {
  return statistics === "all" ? QUIET_MS : 0;
}

function callsIn(events: readonly PodEvent[]): Calls {
  const line = events.findLast(({ container, type }) => container === "app" && type === "line")?.detail ?? "";
  if (!line.startsWith("{")) throw new Error(`the app told nothing of its calls: ${line}`);
  return JSON.parse(line);
}

function linesOfManager(events: readonly PodEvent[]): readonly string[] {
  return events
    .filter(({ container, type }) => container === "lastcall" && type === "line")
    .map(({ detail }) => detail);
}
