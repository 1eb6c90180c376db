import { describe, expect, test } from "vitest";
import { PermanentFailure, waitUntil } from "./wait.ts";

const shortWait = { condition: "the node is ready", withinMs: 30, everyMs: 1 };

describe("a wait that repeats a check", () => {
  test("resolves with the first value of the check, even after failed checks", async () => {
    let checks = 0;
    const state = await waitUntil({ ...shortWait, withinMs: 10_000 }, () => {
      checks += 1;
      if (checks === 1) throw new Error("not ready yet");
      return checks === 3 ? "ready" : undefined;
    });
    expect(state).toBe("ready");
  });

  test("fails at its time limit with the condition and the last error", async () => {
    const check = () => Promise.reject(new Error("disk full"));
    await expect(waitUntil(shortWait, check)).rejects.toThrow(/until the node is ready\. Last error: disk full/);
  });

  test("fails immediately if the check reports a permanent failure", async () => {
    const check = () => Promise.reject(new PermanentFailure("the node was deleted"));
    await expect(waitUntil({ ...shortWait, withinMs: 600_000 }, check)).rejects.toThrow("the node was deleted");
  });
});
