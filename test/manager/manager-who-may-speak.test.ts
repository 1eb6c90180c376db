/** Who can cause what: every cell of the table in docs/who-may-speak.md, on both builds. */
import { readFileSync } from "node:fs";
import { createServer, get, type ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestClock } from "../clock/test-clock.ts";
import { ownAddress } from "../leases/own-address.ts";
import type { Build } from "./builds.ts";
import { endRelays, startRelay } from "./fake-relay.ts";
import { endManagers, hookPath, type Manager, startManager, statusOf, TOKEN } from "./manager-process.ts";
import { describeOnClock, onClock } from "./on-clock.ts";
import { callFrom, HARM_WORDS, HARMS, type Harm, OUTSIDE, SPEAKERS, type Speaker, tableOf } from "./who-may-speak.ts";

afterAll(endRelays);
afterAll(endManagers);

if (OUTSIDE === undefined)
  process.stdout.write("no drain is asked for from outside: this host has no address but loopback\n");

const PLAYED_WITHIN_MS = 180_000;
const FLAGS = ["--quiet-period=300ms", "--drain-timeout=90s", "--app-grace=1s", "--hooks=app:app,web:app"];
/** As long as a relay may take to be heard. */
const RELAY_HEARD_MS = 20_000;

type Pod = {
  readonly clock: TestClock;
  readonly manager: Manager;
  /** How often the app was told to drain. */
  readonly told: () => number;
  /** Sends the app a request, which it keeps open. */
  readonly keepOne: () => Promise<void>;
  readonly letGo: () => void;
  readonly end: () => void;
};

type Plan = { readonly clock: TestClock; readonly build: Build; readonly speaker: Speaker; readonly delayMs: number };

async function podOf({ clock, build, speaker, delayMs }: Plan): Promise<Pod> {
  const address = ownAddress();
  let told = 0;
  let open: ServerResponse | undefined;
  let onOpen = () => {};
  const app = createServer((req, res) => {
    if (req.url === "/keep") {
      open = res;
      onOpen();
      return;
    }
    told += 1;
    res.end();
  });
  await new Promise<void>((resolve) => app.listen(8_080, address, resolve));
  const relay = speaker.relay === undefined ? undefined : await startRelay({ ...speaker.relay, clock });
  const driver = ["--driver=http", `--drain-url=http://${address}:8080/told`];
  const flags = [`--drain-delay=${delayMs}ms`, ...FLAGS, ...driver];
  const manager = await startManager({ build, clock, address, flags, env: relay?.env ?? {} });
  return {
    clock,
    manager,
    told: () => told,
    keepOne: () =>
      new Promise<void>((resolve) => {
        onOpen = resolve;
        get({ host: address, port: 8_080, path: "/keep", agent: false }, (res) => res.resume()).on("error", () => {});
      }),
    letGo: () => open?.end(),
    end: () => {
      manager.kill("SIGKILL");
      app.closeAllConnections();
      app.close();
    },
  };
}

/** The Pod ends with a request open, and meanwhile this goes on. @returns whether its app is let go all the same */
async function isLetGoWhileBusy(pod: Pod, meddles: () => Promise<unknown>): Promise<boolean> {
  await pod.keepOne();
  let released = false;
  const held = callFrom(undefined, pod.manager, hookPath("app")).then(() => {
    released = true;
  });
  const own = callFrom(undefined, pod.manager, `/${TOKEN}/drain`, "POST");
  const phase = async () => (await statusOf(pod.manager))["phase"];
  await pod.clock.until(async () => released || (await phase()) === "withdrawing");
  let meddled = false;
  void meddles().then(() => {
    meddled = true;
  });
  await pod.clock.until(async () => released || (meddled && (await phase()) === "draining"));
  const early = released;
  pod.letGo();
  await Promise.all([held, own]);
  return early;
}

async function harmsOf(build: Build, speaker: Speaker): Promise<Set<Harm>> {
  const harms = new Set<Harm>();
  const living = async (clock: TestClock) => {
    const pod = await podOf({ clock, build, speaker, delayMs: 1_000 });
    await speaker.acts(pod.manager);
    // The drain does not wait until the app has been told: the clock moves when it has.
    await clock.wait(1);
    const { phase, trigger } = await statusOf(pod.manager);
    if (trigger !== "none") harms.add("begin");
    if (phase === "done") harms.add("done");
    if (pod.told() > 0) harms.add("tell");
    if (await isLetGoWhileBusy(pod, () => Promise.resolve())) harms.add("suppress");
    pod.end();
  };
  const ending = async (clock: TestClock) => {
    const pod = await podOf({ clock, build, speaker, delayMs: speaker.relay === undefined ? 1_000 : RELAY_HEARD_MS });
    if (await isLetGoWhileBusy(pod, () => speaker.meddles(pod.manager))) harms.add("cut");
    pod.end();
  };
  await onClock(living)();
  await onClock(ending)();
  return harms;
}

describeOnClock("who may speak to the manager", (build) => {
  const played = new Map<string, Set<Harm>>();

  beforeAll(async () => {
    await Promise.all(SPEAKERS.map(async (speaker) => played.set(speaker.who, await harmsOf(build, speaker))));
  }, PLAYED_WITHIN_MS);

  describe.each(SPEAKERS)("$who", ({ who, can }) => {
    test.each(HARMS.map((harm) => ({ harm, can: can.includes(harm) ? "can" : "cannot", what: HARM_WORDS[harm] })))(
      "$can $what",
      ({ harm }) => {
        expect(played.get(who)?.has(harm)).toBe(can.includes(harm));
      },
    );
  });
});

test("the document has the table that is tried here", () => {
  const document = readFileSync(new URL("../../docs/who-may-speak.md", import.meta.url), "utf8");
  expect(document).toContain(tableOf(SPEAKERS));
});
