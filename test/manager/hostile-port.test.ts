/**
 * Compares a drain under attack by unauthenticated clients with a drain without attack, in separate network namespaces. Drains
 * with 10m of CPU depend on the host's load, so only `npm run bench:hostile-port` measures them.
 */
import { expect, test } from "vitest";
import { type Build, describeBuilds } from "./builds.ts";
import { type AttackResult, attackText, NO_ATTACK, namespacesFailure, runAttack } from "./port-attack/run-attack.ts";

const skipReason = namespacesFailure();
if (skipReason !== "") process.stdout.write(`skipped: no network namespaces here: ${skipReason}\n`);

const ADDITIONAL_KIB_LIMIT = 2_048;
/** Distinguishes the builds: before the attack the Node build uses more memory, the native build less. */
const MIN_NODEJS_RSS_KIB = 16_384;

const print = (title: string, attackResult: AttackResult): void =>
  void process.stdout.write(`${attackText(title, attackResult)}\n`);
const commandOf = (build: Build): readonly string[] => [build.command, ...build.args];

function expectSameAsControl(attacked: AttackResult, control: AttackResult): void {
  const { answered, reset, silent, outcome } = attacked;
  expect({ answered, reset, silent, outcome }).toEqual({
    answered: attacked.sent,
    reset: 0,
    silent: 0,
    outcome: control.outcome,
  });
  // Node's heap varies by more than the limit even without attack.
  if (attacked.kibBefore < MIN_NODEJS_RSS_KIB)
    expect(attacked.peakKib - attacked.kibBefore).toBeLessThanOrEqual(
      control.peakKib - control.kibBefore + ADDITIONAL_KIB_LIMIT,
    );
}

describeBuilds("unauthenticated clients at the manager's port", (build) => {
  test.skipIf(skipReason !== "").for([
    { title: "2000 silent connections from 1 address", attack: "silent", amount: 2_000, addresses: 1 },
    { title: "2000 silent connections from 200 addresses", attack: "silent", amount: 2_000, addresses: 200 },
    { title: "2000 connections a second from 200 addresses", attack: "churn", amount: 2_000, addresses: 200 },
  ] as const)("do not prevent responses or the end of a drain with $title", async ({ title, ...scenario }) => {
    const manager = commandOf(build);
    const [control, attacked] = await Promise.all([
      runAttack({ manager, ...NO_ATTACK }),
      runAttack({ manager, wrapper: [], ...scenario }),
    ]);
    print(`${build.name}, without attack`, control);
    print(`${build.name}, ${title}`, attacked);
    expect(attacked.connectionsPerSecond).toBeGreaterThan(0);
    expectSameAsControl(attacked, control);
  });
});
