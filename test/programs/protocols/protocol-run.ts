/** Runs one scenario with a real manager and one criterion, and measures the time until the response to the app's hook. */
import { once } from "node:events";
import { createServer } from "node:http";
import { ownAddress } from "../../leases/own-address.ts";
import type { Build } from "../../manager/builds.ts";
import { call, hookPath, startManager, statusOf, TOKEN } from "../../manager/manager-process.ts";
import { classifyEnding } from "./ending.ts";
import type { Criterion, Ending, RunningScenario, Scenario } from "./protocol-scenario.ts";

const APP_PORT = 8_080;
const COUNT_PORT = 8_081;
const DRAIN_DELAY_MS = 200;
const QUIET_PERIOD_MS = 1_000;
/** Drain timeouts: short for drains that should end at the deadline, long for drains that should end earlier. */
const SHORT_TIMEOUT_MS = 3_500;
const LONG_TIMEOUT_MS = 60_000;

export type ScenarioResult = {
  readonly criterion: Criterion;
  readonly ending: Ending;
  readonly releasedAfterMs: number;
  readonly sinceTrafficMs: number;
  readonly leftTotal: number;
  readonly why: string;
};

export async function runScenario(scenario: Scenario, criterion: Criterion, build: Build): Promise<ScenarioResult> {
  const address = ownAddress();
  const expected = scenario.endings[criterion];
  const timeoutMs = expected === "deadline" || expected === "unsure" ? SHORT_TIMEOUT_MS : LONG_TIMEOUT_MS;
  const manager = await startManager({ build, address, flags: managerFlags(criterion, address, timeoutMs) });
  let runningScenario: RunningScenario | undefined;
  // The count has a separate port, as metrics often do, so that the manager's requests do not count as the app's traffic.
  const countServer = createServer((req, res) => {
    if (req.method === "POST") runningScenario?.startDrain();
    res.end(String(runningScenario?.activeRequests() ?? 0));
  }).listen(COUNT_PORT, address);
  await once(countServer, "listening");
  try {
    const started = await scenario.start({ address, port: APP_PORT });
    runningScenario = started;
    const triggeredMs = performance.now();
    const hookCall = call(manager, hookPath()).then((response) => {
      const nowMs = performance.now();
      return {
        status: response.status,
        releasedAfterMs: nowMs - triggeredMs,
        sinceTrafficMs: nowMs - started.lastTrafficMs(),
        activeRequests: started.activeRequests(),
        openConnections: started.openConnections(),
      };
    });
    await call(manager, `/${TOKEN}/drain`, "POST");
    const { status, ...release } = await hookCall;
    if (status !== 200) throw new Error(`the hook's response has status ${status}, expected 200`);
    const report = await statusOf(manager);
    const outcome = String(report["outcome"]);
    const leftTotal = Number(report["leftTotal"]);
    const ending = classifyEnding({
      criterion,
      outcome,
      leftTotal,
      quietPeriodMs: QUIET_PERIOD_MS,
      ...release,
    });
    const minMs = ending === "deadline" ? DRAIN_DELAY_MS + timeoutMs : DRAIN_DELAY_MS;
    if (release.releasedAfterMs < minMs - 5)
      throw new Error(`released after ${release.releasedAfterMs} ms, expected at least ${minMs} ms`);
    return {
      criterion,
      ending,
      releasedAfterMs: release.releasedAfterMs,
      sinceTrafficMs: release.sinceTrafficMs,
      leftTotal,
      why: String(report["why"]),
    };
  } finally {
    await runningScenario?.stop();
    manager.kill("SIGKILL");
    await manager.ended;
    countServer.closeAllConnections();
    await new Promise((done) => countServer.close(done));
  }
}

function managerFlags(criterion: Criterion, address: string, timeoutMs: number): readonly string[] {
  const flags = [
    `--drain-delay=${DRAIN_DELAY_MS}ms`,
    `--quiet-period=${QUIET_PERIOD_MS}ms`,
    `--drain-timeout=${timeoutMs}ms`,
    `--drain-ports=${APP_PORT}`,
    "--hooks=app:app",
  ];
  if (criterion === "quiet" || criterion === "connections") return [...flags, `--drained-when=${criterion}`];
  const driverFlags = ["--driver=http", `--active-url=http://${address}:${COUNT_PORT}/`, "--drained-when=requests"];
  const drainUrlFlags = criterion === "notified" ? [`--drain-url=http://${address}:${COUNT_PORT}/`] : [];
  return [...flags, ...driverFlags, ...drainUrlFlags];
}
