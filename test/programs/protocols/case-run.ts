/** Plays one scene before one real manager with one criterion, and sees when the manager lets go of the app's hook. */
import { once } from "node:events";
import { createServer } from "node:http";
import { ownAddress } from "../../leases/own-address.ts";
import type { Build } from "../../manager/builds.ts";
import { call, hookPath, startManager, statusOf, TOKEN } from "../../manager/manager-process.ts";
import { endingOf } from "./ending.ts";
import type { Criterion, Ending, Play, Scene } from "./scene.ts";

const APP_PORT = 8_080;
const COUNT_PORT = 8_081;
const DRAIN_DELAY_MS = 200;
const QUIET_PERIOD_MS = 1_000;
/** Where the deadline is expected it comes soon; where it is not, it is out of reach. */
const NEAR_DEADLINE_MS = 3_500;
const FAR_DEADLINE_MS = 60_000;

export type Seen = {
  readonly criterion: Criterion;
  readonly ending: Ending;
  readonly releasedAfterMs: number;
  readonly sinceTrafficMs: number;
  readonly left: number;
  readonly why: string;
};

export async function runCase(scene: Scene, criterion: Criterion, build: Build): Promise<Seen> {
  const address = ownAddress();
  const expected = scene.endings[criterion];
  const timeoutMs = expected === "deadline" || expected === "unsure" ? NEAR_DEADLINE_MS : FAR_DEADLINE_MS;
  const manager = await startManager({ build, address, flags: flagsOf(criterion, address, timeoutMs) });
  let play: Play | undefined;
  // Beside the app's port, as a metrics port would be: the calls of the manager are no traffic of the app.
  const book = createServer((req, res) => {
    if (req.method === "POST") play?.sendAway();
    res.end(String(play?.openWork() ?? 0));
  }).listen(COUNT_PORT, address);
  await once(book, "listening");
  try {
    const playing = await scene.play({ address, port: APP_PORT });
    play = playing;
    const triggeredMs = performance.now();
    const held = call(manager, hookPath()).then((answer) => {
      const nowMs = performance.now();
      return {
        status: answer.status,
        releasedAfterMs: nowMs - triggeredMs,
        sinceTrafficMs: nowMs - playing.lastTrafficMs(),
        openWork: playing.openWork(),
        openConnections: playing.openConnections(),
      };
    });
    await call(manager, `/${TOKEN}/drain`, "POST");
    const { status, ...release } = await held;
    if (status !== 200) throw new Error(`the hook was answered ${status}`);
    const report = await statusOf(manager);
    const outcome = String(report["outcome"]);
    const left = Number(report["leftTotal"]);
    const ending = endingOf({ criterion, outcome, left, quietPeriodMs: QUIET_PERIOD_MS, ...release });
    const least = ending === "deadline" ? DRAIN_DELAY_MS + timeoutMs : DRAIN_DELAY_MS;
    if (release.releasedAfterMs < least - 5)
      throw new Error(`released after ${release.releasedAfterMs} of ${least} ms`);
    return {
      criterion,
      ending,
      releasedAfterMs: release.releasedAfterMs,
      sinceTrafficMs: release.sinceTrafficMs,
      left,
      why: String(report["why"]),
    };
  } finally {
    await play?.end();
    manager.kill("SIGKILL");
    await manager.ended;
    book.closeAllConnections();
    await new Promise((done) => book.close(done));
  }
}

function flagsOf(criterion: Criterion, address: string, timeoutMs: number): readonly string[] {
  const flags = [
    `--drain-delay=${DRAIN_DELAY_MS}ms`,
    `--quiet-period=${QUIET_PERIOD_MS}ms`,
    `--drain-timeout=${timeoutMs}ms`,
    `--drain-ports=${APP_PORT}`,
    "--hooks=app:app",
  ];
  if (criterion === "quiet" || criterion === "connections") return [...flags, `--drained-when=${criterion}`];
  const driven = ["--driver=http", `--active-url=http://${address}:${COUNT_PORT}/`, "--drained-when=requests"];
  const told = criterion === "told" ? [`--drain-url=http://${address}:${COUNT_PORT}/`] : [];
  return [...flags, ...driven, ...told];
}
