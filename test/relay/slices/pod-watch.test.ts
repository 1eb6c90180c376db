/** Tests the watch of a Pod when the computation of its status fails. */
import { expect, test } from "vitest";
import type { WithdrawalStatusLine } from "../../../src/contract/relay-wire.ts";
import type { NamespaceWatch } from "../../../src/relay/slices/namespace-watch.ts";
import { watchOnePod } from "../../../src/relay/slices/pod-watch.ts";

const REQUEST = { namespace: "shop", pod: "web-1", uid: "uid-1", addresses: ["10.0.0.1"] };

test("an exception while a Pod's status is computed is logged once and does not propagate", () => {
  let isBroken = true;
  const slices = () => {
    if (isBroken) throw new Error("broken");
    return [];
  };
  const watch: NamespaceWatch = {
    add: () => ({ slices, unsubscribe: () => undefined }),
    unknownReason: () => undefined,
    check: () => undefined,
    podCount: () => 1,
    end: async () => undefined,
  };
  const lines: WithdrawalStatusLine[] = [];
  const faults: unknown[] = [];
  const ports = {
    onStatus: (line: WithdrawalStatusLine) => lines.push(line),
    onFault: (fault: unknown) => faults.push(fault),
  };
  const pod = watchOnePod(REQUEST, ports, "waiting");
  pod.attach(watch);
  pod.update();
  expect([lines.length, lines[0]?.state, faults]).toEqual([1, "unknown", [new Error("broken")]]);
  isBroken = false;
  pod.update();
  expect(lines.at(-1)?.state).toBe("out");
});
