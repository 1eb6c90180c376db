/** Runs one case: drains a Pod of a mesh under inbound load while its app makes outbound calls. */
import { realClock } from "../../../src/demo/clock.ts";
import type { PodEvent } from "../../../src/demo/pods/running-pod.ts";
import { lastDrainSummary } from "../../../src/demo/report/pod-end.ts";
import { DELAY_MS, PROPAGATION_MS, QUIET_MS } from "../envoy/envoy-scenario.ts";
import { http1Load } from "../envoy/http1-clients.ts";
import { eventTimeMs, measureEnd, toSeconds } from "../envoy/measure-end.ts";
import type { Testbed, TestPod } from "../envoy/testbed.ts";
import { waitUntil } from "../harness/until.ts";
import type { CommandLine } from "../install/program-of.ts";
import type { CallCounts } from "./istio-app.ts";
import { type IstioCase, type IstioResult, istioCaseName } from "./istio-case.ts";
import { istioPod } from "./istio-pod.ts";
import { ISTIO_PORTS, runAs, UIDS } from "./istio-ports.ts";

type IstioParts = {
  readonly testbed: Testbed;
  readonly envoy: CommandLine;
  readonly manager: IstioResult["manager"];
  readonly managerProgram: readonly string[];
  readonly folder: string;
};

const APP = new URL("./istio-app.ts", import.meta.url).pathname;
const STEADY_MS = 1_500;

const LOAD = { clients: 10, paceMs: 100, lifetimeMs: (client: number) => (client % 2 === 0 ? 5_000 : Infinity) };
/** Scrapes the proxy's statistics; the drain must not count these requests as traffic of the app. */
const SCRAPE_LOAD = { clients: 1, paceMs: 300, lifetimeMs: () => Infinity };

export async function runIstio(istioCase: IstioCase, parts: IstioParts): Promise<IstioResult> {
  const { testbed, envoy, folder } = parts;
  const manifest = await istioPod({
    ...istioCase,
    name: istioCaseName(istioCase),
    envoy,
    folder,
    upstream: testbed.upstream,
    app: [process.execPath, APP],
  });
  const testPod = await testbed.startPod(manifest, runAs(UIDS.manager, parts.managerProgram));
  try {
    await waitUntil("the Pod is ready", () => isReady(testPod.pod), testPod.pod);
    return await endPod(istioCase, parts, testPod);
  } finally {
    await testPod.kill();
  }
}

function isReady(pod: TestPod["pod"]): boolean {
  const hasLogged = (container: string) =>
    pod.events.some((event) => event.container === container && event.type === "line");
  return pod.isReady() && hasLogged("lastcall") && hasLogged("app");
}

async function endPod(istioCase: IstioCase, { testbed, manager }: IstioParts, testPod: TestPod): Promise<IstioResult> {
  const { pod } = testPod;
  const clientEnvironment = {
    clock: realClock,
    pod: pod.address,
    sourceAddress: testbed.network.trafficAddress,
    upstream: testbed.upstream,
  };
  const load = await http1Load(LOAD)(clientEnvironment);
  const scraper = await http1Load({ ...SCRAPE_LOAD, path: "/stats/prometheus", port: ISTIO_PORTS.stats })(
    clientEnvironment,
  );
  const clients = { ...load, stop: async () => void (await Promise.all([load.stop(), scraper.stop()])) };
  await realClock.wait(STEADY_MS);
  const { end } = await measureEnd({
    testPod,
    clients,
    container: "app",
    propagationMs: PROPAGATION_MS,
    dueMs: ({ triggeredMs, lastTrafficMs }) =>
      Math.max(triggeredMs + DELAY_MS + idleWaitMs(istioCase), lastTrafficMs + QUIET_MS),
  });
  const { events } = pod;
  const lines = managerLines(events);
  // If the proxy is in a regular container, the drain continues until the app has exited, and the manager logs its report only then.
  const summary = lastDrainSummary(lines);
  return {
    kind: "istio",
    system: `Istio's arguments, Envoy ${istioCase.version}, ${istioCase.form}, statistics ${istioCase.statistics}, ${manager}`,
    ...istioCase,
    manager,
    ...end,
    outcome: summary?.outcome ?? "",
    why: summary?.why ?? "",
    calls: readCalls(events),
    proxyAfterAppSeconds: toSeconds(
      eventTimeMs(events, "istio-proxy", "SIGTERM") - eventTimeMs(events, "app", "exited"),
    ),
    driverWarning: lines.find((line) => line.includes("driver cannot count")) ?? "",
  };
}

/** With all statistics the driver counts the proxy's own connection to the app as a client, so the drain waits for a quiet period. */
function idleWaitMs({ statistics }: IstioCase): number {
  return statistics === "all" ? QUIET_MS : 0;
}

function readCalls(events: readonly PodEvent[]): CallCounts {
  const line = events.findLast(({ container, type }) => container === "app" && type === "line")?.detail ?? "";
  if (!line.startsWith("{")) throw new Error(`the last line of the app is not its call counts: ${line}`);
  return JSON.parse(line);
}

function managerLines(events: readonly PodEvent[]): readonly string[] {
  return events
    .filter(({ container, type }) => container === "lastcall" && type === "line")
    .map(({ detail }) => detail);
}
