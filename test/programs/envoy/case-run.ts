/** Plays one case: a Pod with an Envoy, its clients, its end under the kubelet's rules, and what came of it. */
import { get } from "node:http";
import { DEFAULT_SETTINGS } from "../../../src/contract/drain-settings.ts";
import { realClock } from "../../../src/demo/clock.ts";
import type { PodEvent, RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { endOf } from "../../../src/demo/report/pod-end.ts";
import { until } from "../harness/until.ts";
import { type EnvoyCase, nameOf } from "./cases.ts";
import { type EnvoyResult, systemOf } from "./envoy-result.ts";
import { type GatewayParts, gatewayPod } from "./gateway-pod.ts";
import { startLagLog } from "./lag-log.ts";
import { type Clients, DELAY_MS, dueMs, LAG_MS, type Place, QUIET_MS } from "./scene.ts";
import { type Stage, type StagedPod, TOKEN } from "./stage.ts";

type CaseParts = {
  readonly stage: Stage;
  readonly managerProgram: readonly string[];
} & Pick<Place, "http3" | "grpcio"> &
  Pick<GatewayParts, "envoy" | "folder" | "certificate">;

/** A load reaches its pace; anybody else only has to be there. */
const STEADY_MS = 2_000;
const LEAD_MS = 100;
/** For who was cut by the end of Envoy to notice. */
const AFTERWARDS_MS = 500;

export async function runCase(one: EnvoyCase, parts: CaseParts): Promise<EnvoyResult> {
  const { stage, envoy, folder, certificate } = parts;
  const { scene } = one;
  const manifest = await gatewayPod({
    scene,
    name: nameOf(one),
    envoy,
    folder,
    certificate,
    upstream: stage.upstream,
  });
  const staged = await stage.startPod(manifest, parts.managerProgram);
  try {
    await until("the Pod is ready", () => isReady(staged.pod), staged.pod);
    const clients = await scene.start({
      clock: realClock,
      pod: staged.pod.address,
      from: stage.network.trafficAddress,
      other: stage.upstream,
      http3: parts.http3,
      grpcio: parts.grpcio,
    });
    await realClock.wait(scene.heavy === true ? STEADY_MS : LEAD_MS);
    return await ended(one, staged, clients);
  } finally {
    await staged.kill();
  }
}

function isReady(pod: RunningPod): boolean {
  return pod.isReady() && pod.events.some(({ container, what }) => container === "lastcall" && what === "line");
}

async function ended(
  one: EnvoyCase,
  { pod, managerPeakKib, waitedMs }: StagedPod,
  clients: Clients,
): Promise<EnvoyResult> {
  const { scene, version, manager } = one;
  const lag = startLagLog(waitedMs);
  const deletedMs = realClock.nowMs();
  const gone = pod.remove();
  const hook = hookStatus(pod.address, "envoy");
  const withdrawal = realClock.wait(scene.lagMs ?? LAG_MS).then(clients.withdraw);
  const hookSeen = await hook;
  // Who is cut from here on is cut by the end of Envoy, and only a session that stays to the deadline may be.
  const before = [...clients.tally.failures];
  const managerPeak = managerPeakKib();
  await gone;
  const lastMs = clients.lastMs();
  lag.stop();
  await withdrawal;
  await realClock.wait(AFTERWARDS_MS);
  await clients.stop();
  const end = endOf(pod, { forwarded: [], propagationMs: 0, slicesWithdrawnMs: undefined });
  const releasedMs = stopSignalMs(pod.events);
  const stays = scene.ends === "deadline";
  const failures = stays ? before : clients.tally.failures;
  const { triggeredMs } = end;
  const toldMs = triggeredMs + DELAY_MS;
  const due = dueMs(scene, { triggeredMs, lastMs });
  const result = {
    kind: "envoy" as const,
    scene: scene.key,
    version,
    manager,
    releasedSeconds: seconds(releasedMs - deletedMs),
    afterTrafficSeconds: seconds(Math.max(0, releasedMs - Math.max(deletedMs, lastMs))),
    overWaitSeconds: seconds(releasedMs - due),
    stayedSeconds: seconds(Math.max(0, lastMs - toldMs - lag.between(toldMs, lastMs))),
    // The trigger is known by a line of the log that may be read late; what came later moves the end only near it.
    lagSeconds: seconds(lag.between(deletedMs, triggeredMs) + lag.between(due - QUIET_MS, releasedMs)),
    hookStatus: hookSeen,
    hooksFailed: pod.events.filter(({ what }) => what === "FailedPreStopHook" || what === "hook-overran").length,
    answered: clients.tally.answered,
    failures,
    refused: clients.tally.refused ?? 0,
    cut: stays ? clients.tally.failures.length - before.length : 0,
    outcome: end.summary?.outcome ?? "",
    why: end.summary?.why ?? "",
    managerPeakKib: managerPeak,
  };
  return { ...result, system: systemOf(result) };
}

function stopSignalMs(events: readonly PodEvent[]): number {
  return events.find(({ container, what }) => container === "envoy" && what === "SIGTERM")?.atMs ?? Number.NaN;
}

/** A second call of a container's hook, beside the kubelet's, which never looks at the status. -1: no answer. */
export function hookStatus(host: string, container: string): Promise<number> {
  return new Promise((done) => {
    get({ host, port: DEFAULT_SETTINGS.port, path: `/${TOKEN}/prestop/${container}`, agent: false }, (answer) => {
      answer.resume().on("end", () => done(answer.statusCode ?? -1));
    }).on("error", () => done(-1));
  });
}

/** With three digits. */
export function seconds(ms: number): number {
  return Math.round(ms) / 1_000;
}
