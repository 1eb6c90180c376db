/** What one Pod's asker hears when something of ours is broken. */
import { expect, test } from "vitest";
import type { WithdrawalLine } from "../../../src/contract/relay-wire.ts";
import type { NamespaceWatch } from "../../../src/relay/slices/namespace-watch.ts";
import { watchOnePod } from "../../../src/relay/slices/pod-watch.ts";

const QUESTION = { namespace: "shop", pod: "web-1", uid: "uid-1", addresses: ["10.0.0.1"] };

test("a fault in judging its slices is told once, is no answer, and goes no further", () => {
  let isBroken = true;
  const slices = () => {
    if (isBroken) throw new Error("broken");
    return [];
  };
  const watch: NamespaceWatch = {
    add: () => ({ slices, leave: () => undefined }),
    doubt: () => undefined,
    look: () => undefined,
    askers: () => 1,
    end: async () => undefined,
  };
  const lines: WithdrawalLine[] = [];
  const faults: unknown[] = [];
  const ports = { say: (line: WithdrawalLine) => lines.push(line), failed: (fault: unknown) => faults.push(fault) };
  const pod = watchOnePod(QUESTION, ports, "waiting");
  pod.attach(watch);
  pod.judge();
  expect([lines.length, lines[0]?.state, faults]).toEqual([1, "unknown", [new Error("broken")]]);
  isBroken = false;
  pod.judge();
  expect(lines.at(-1)?.state).toBe("out");
});
