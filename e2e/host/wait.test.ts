import { describe, expect, test } from "vitest";
import { GivenUp, waitUntil } from "./wait.ts";

const soon = { what: "it rains", withinMs: 30, everyMs: 1 };

describe("waiting", () => {
  test("takes the first answer and lets looks fail before it", async () => {
    let looks = 0;
    const answer = await waitUntil({ ...soon, withinMs: 10_000 }, () => {
      looks += 1;
      if (looks === 1) throw new Error("not yet there");
      return looks === 3 ? "rain" : undefined;
    });
    expect(answer).toBe("rain");
  });

  test("ends with what was waited for and the words of the last look", async () => {
    const look = () => Promise.reject(new Error("blue sky"));
    await expect(waitUntil(soon, look)).rejects.toThrow(/until it rains\. Last: blue sky/);
  });

  test("ends at once when a look knows better", async () => {
    const look = () => Promise.reject(new GivenUp("a desert"));
    await expect(waitUntil({ ...soon, withinMs: 600_000 }, look)).rejects.toThrow("a desert");
  });
});
