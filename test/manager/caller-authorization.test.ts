/** Tests every cell of the table in docs/caller-authorization.md, on the manager's Node and native builds. */
import { createServer, get, type ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestClock } from "../clock/test-clock.ts";
import { ownAddress } from "../leases/own-address.ts";
import type { Build } from "./builds.ts";
import {
  CALLERS,
  type Caller,
  callFrom,
  EXTERNAL_ADDRESS,
  HARM_NAMES,
  HARMS,
  type Harm,
} from "./caller-authorization.ts";
import { endRelays, startRelay } from "./fake-relay.ts";
import { endManagers, hookPath, type Manager, startManager, statusOf, TOKEN } from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";

afterAll(endRelays);
afterAll(endManagers);

if (EXTERNAL_ADDRESS === undefined)
  process.stdout.write("no drain is requested from another address: this host has only loopback\n");

const SCENARIOS_TIMEOUT_MS = 180_000;
const FLAGS = ["--quiet-period=300ms", "--drain-timeout=90s", "--app-grace=1s", "--hooks=app:app,web:app"];
/** A drain delay that is long enough for the relay's status to arrive on every machine. */
const RELAYED_DELAY_MS = 20_000;

type Pod = {
  readonly clock: TestClock;
  readonly manager: Manager;
  readonly drainCallCount: () => number;
  /** Sends the app a request that stays active. */
  readonly openRequest: () => Promise<void>;
  readonly completeRequest: () => void;
  readonly end: () => void;
};

type PodOptions = {
  readonly clock: TestClock;
  readonly build: Build;
  readonly caller: Caller;
  readonly delayMs: number;
};

async function startPod({ clock, build, caller, delayMs }: PodOptions): Promise<Pod> {
  const address = ownAddress();
  let drainCallCount = 0;
  let openResponse: ServerResponse | undefined;
  let onRequest = () => {};
  const app = createServer((req, res) => {
    if (req.url === "/keep") {
      openResponse = res;
      onRequest();
      return;
    }
    drainCallCount += 1;
    res.end();
  });
  await new Promise<void>((resolve) => app.listen(8_080, address, resolve));
  const relay = caller.relay === undefined ? undefined : await startRelay({ ...caller.relay, clock });
  const driverFlags = ["--driver=http", `--drain-url=http://${address}:8080/drain`];
  const flags = [`--drain-delay=${delayMs}ms`, ...FLAGS, ...driverFlags];
  const manager = await startManager({ build, clock, address, flags, env: relay?.env ?? {} });
  return {
    clock,
    manager,
    drainCallCount: () => drainCallCount,
    openRequest: () =>
      new Promise<void>((resolve) => {
        onRequest = resolve;
        get({ host: address, port: 8_080, path: "/keep", agent: false }, (res) => res.resume()).on("error", () => {});
      }),
    completeRequest: () => openResponse?.end(),
    end: () => {
      manager.kill("SIGKILL");
      app.closeAllConnections();
      app.close();
    },
  };
}

/** Drains a Pod with an active request and runs `duringDrain`. @returns whether the hold of the app's hook is released early */
async function isHoldReleasedWhileBusy(pod: Pod, duringDrain: () => Promise<unknown>): Promise<boolean> {
  await pod.openRequest();
  let isReleased = false;
  const hookCall = callFrom(undefined, pod.manager, hookPath("app")).then(() => {
    isReleased = true;
  });
  const ownHookCall = callFrom(undefined, pod.manager, `/${TOKEN}/drain`, "POST");
  const readPhase = async () => (await statusOf(pod.manager))["phase"];
  await pod.clock.until(async () => isReleased || (await readPhase()) === "withdrawing");
  let hasCompleted = false;
  void duringDrain().then(() => {
    hasCompleted = true;
  });
  await pod.clock.until(async () => isReleased || (hasCompleted && (await readPhase()) === "draining"));
  const wasReleasedEarly = isReleased;
  pod.completeRequest();
  await Promise.all([hookCall, ownHookCall]);
  return wasReleasedEarly;
}

async function findHarms(build: Build, caller: Caller): Promise<Set<Harm>> {
  const harms = new Set<Harm>();
  const callWithoutDrain = async (clock: TestClock) => {
    const pod = await startPod({ clock, build, caller, delayMs: 1_000 });
    await caller.call(pod.manager);
    // If the call started a drain, the manager has sent a request to drain-url. The clock advances only after the app has
    // received this request.
    await clock.wait(1);
    const { phase, trigger } = await statusOf(pod.manager);
    if (trigger !== "none") harms.add("start");
    if (phase === "done") harms.add("done");
    if (pod.drainCallCount() > 0) harms.add("notify");
    if (await isHoldReleasedWhileBusy(pod, () => Promise.resolve())) harms.add("suppress");
    pod.end();
  };
  const callDuringTermination = async (clock: TestClock) => {
    const pod = await startPod({
      clock,
      build,
      caller,
      delayMs: caller.relay === undefined ? 1_000 : RELAYED_DELAY_MS,
    });
    if (await isHoldReleasedWhileBusy(pod, () => caller.callDuringDrain(pod.manager))) harms.add("cut");
    pod.end();
  };
  await onClock(callWithoutDrain)();
  await onClock(callDuringTermination)();
  return harms;
}

describeOnClock("with the authorization of callers,", (build) => {
  const harmsByCaller = new Map<string, Set<Harm>>();

  beforeAll(async () => {
    await Promise.all(CALLERS.map(async (caller) => harmsByCaller.set(caller.name, await findHarms(build, caller))));
  }, SCENARIOS_TIMEOUT_MS);

  describe.each(CALLERS)("$name", ({ name, possibleHarms }) => {
    test.each(
      HARMS.map((harm) => ({ harm, can: possibleHarms.includes(harm) ? "can" : "cannot", what: HARM_NAMES[harm] })),
    )("$can $what", ({ harm }) => {
      expect(harmsByCaller.get(name)?.has(harm)).toBe(possibleHarms.includes(harm));
    });
  });
});
