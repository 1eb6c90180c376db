/**
 * Compares a drain under attack by unauthenticated clients with one without attack, in separate network namespaces. Drains
 * with 10m of CPU depend on the host's load, so only `npm run bench:hostile-port` measures them.
 */
import { expect, test } from "vitest";
import { type Build, describeBuilds } from "./builds.ts";
import { type AttackResult, attackText, NO_ATTACK, networkRefusal, runAttack } from "./port-attack/run-attack.ts";

const refusal = networkRefusal();
if (refusal !== "") process.stdout.write(`skipped: no network namespaces here: ${refusal}\n`);

const MORE_KB = 2_048;
/** The Node build uses more, the native build less. */
const NODE_KB = 16_384;

const print = (title: string, seen: AttackResult): void => void process.stdout.write(`${attackText(title, seen)}\n`);
const managerOf = (build: Build): readonly string[] => [build.command, ...build.args];

function expectAsWithout(seen: AttackResult, control: AttackResult): void {
  const { answered, reset, silent, outcome } = seen;
  expect({ answered, reset, silent, outcome }).toEqual({
    answered: seen.sent,
    reset: 0,
    silent: 0,
    outcome: control.outcome,
  });
  // Node's heap varies by more than the limit even without attack.
  if (seen.beforeKb < NODE_KB)
    expect(seen.mostKb - seen.beforeKb).toBeLessThanOrEqual(control.mostKb - control.beforeKb + MORE_KB);
}

describeBuilds("unauthenticated clients at the manager's port", (build) => {
  test.skipIf(refusal !== "").for([
    { title: "2000 silent connections from 1 address", attack: "silent", amount: 2_000, addresses: 1 },
    { title: "2000 silent connections from 200 addresses", attack: "silent", amount: 2_000, addresses: 200 },
    { title: "2000 connections a second from 200 addresses", attack: "churn", amount: 2_000, addresses: 200 },
  ] as const)("do not prevent responses or the end of a drain with $title", async ({ title, ...scenario }) => {
    const manager = managerOf(build);
    const [control, seen] = await Promise.all([
      runAttack({ manager, ...NO_ATTACK }),
      runAttack({ manager, wrapper: [], ...scenario }),
    ]);
    print(`${build.name}, without attack`, control);
    print(`${build.name}, ${title}`, seen);
    expect(seen.perSecond).toBeGreaterThan(0);
    expectAsWithout(seen, control);
  });
});
