/**
 * Strangers at the manager's port, in a network of their own, beside the same Pod's end without them. With 10m of CPU even
 * the end without them depends on what else the host does. `npm run bench:hostile-port` measures that, and how much longer drains
 * are.
 */
import { expect, test } from "vitest";
import { type Build, describeBuilds } from "./builds.ts";
import { networkRefusal, QUIET, runScene, type Seen, sceneText } from "./port-attack/run-scene.ts";

const refusal = networkRefusal();
if (refusal !== "") process.stdout.write(`skipped: no network of one's own here: ${refusal}\n`);

const MORE_KB = 2_048;
/** A larger manager is the Node build. */
const NODE_KB = 16_384;

const say = (title: string, seen: Seen): void => void process.stdout.write(`${sceneText(title, seen)}\n`);
const managerOf = (build: Build): readonly string[] => [build.command, ...build.args];

function expectAsWithout(seen: Seen, control: Seen): void {
  const { answered, reset, silent, outcome } = seen;
  expect({ answered, reset, silent, outcome }).toEqual({
    answered: seen.asked,
    reset: 0,
    silent: 0,
    outcome: control.outcome,
  });
  // Node's own heap comes and goes by more than that without anyone's doing.
  if (seen.beforeKb < NODE_KB)
    expect(seen.mostKb - seen.beforeKb).toBeLessThanOrEqual(control.mostKb - control.beforeKb + MORE_KB);
}

describeBuilds("strangers at the manager's port", (build) => {
  test.skipIf(refusal !== "").for([
    { says: "2000 silent ones from 1 address", strangers: "silent", amount: 2_000, addresses: 1 },
    { says: "2000 silent ones from 200 addresses", strangers: "silent", amount: 2_000, addresses: 200 },
    { says: "2000 a second from 200 addresses", strangers: "churn", amount: 2_000, addresses: 200 },
  ] as const)("$says keep no call from its answer and no drain from its end", async ({ says, ...scene }) => {
    const manager = managerOf(build);
    const [control, seen] = await Promise.all([
      runScene({ manager, ...QUIET }),
      runScene({ manager, wrapper: [], ...scene }),
    ]);
    say(`${build.name}, without them`, control);
    say(`${build.name}, ${says}`, seen);
    expect(seen.perSecond).toBeGreaterThan(0);
    expectAsWithout(seen, control);
  });
});
