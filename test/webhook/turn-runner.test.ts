import { expect, test } from "vitest";
import { sharedTurn } from "../../src/webhook/turn-runner.ts";

test("whoever asks before the turn begins shares it, and runs in the order of asking", async () => {
  const turn = sharedTurn();
  const seen: string[] = [];
  const first = turn().then(() => seen.push("first"));
  // A callback of the network: it comes before the turn, whatever it asks for comes with it.
  process.nextTick(() => {
    seen.push("read");
    void turn().then(() => seen.push("second"));
  });
  await first;
  await turn();
  expect(seen).toEqual(["read", "first", "second"]);
});

test("whoever asks during a turn gets the next one and does not wait for ever", async () => {
  const turn = sharedTurn();
  const seen: string[] = [];
  await turn().then(() => {
    void turn().then(() => seen.push("next"));
    void Promise.resolve().then(() => seen.push("this"));
  });
  await turn();
  expect(seen).toEqual(["this", "next"]);
});
