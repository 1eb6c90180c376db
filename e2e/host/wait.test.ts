import { describe, expect, test } from "vitest";
import { PermanentFailure, waitUntil } from "./wait.ts";

const shortWait = { what: "it rains", withinMs: 30, everyMs: 1 };

describe("a wait that repeats a check", () => {
  test("resolves with the first value of the check, even after failed checks", async () => {
    let checks = 0;
    const weather = await waitUntil({ ...shortWait, withinMs: 10_000 }, () => {
      checks += 1;
      if (checks === 1) throw new Error("not yet there");
      return checks === 3 ? "rain" : undefined;
    });
    expect(weather).toBe("rain");
  });

  test("fails at its time limit with the name of the event and the last error", async () => {
    const check = () => Promise.reject(new Error("blue sky"));
    await expect(waitUntil(shortWait, check)).rejects.toThrow(/until it rains\. Last error: blue sky/);
  });

  test("fails immediately if the check reports a permanent failure", async () => {
    const check = () => Promise.reject(new PermanentFailure("a desert"));
    await expect(waitUntil({ ...shortWait, withinMs: 600_000 }, check)).rejects.toThrow("a desert");
  });
});
