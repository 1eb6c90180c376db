import { expect, test } from "vitest";
import { LARGE_BYTES, sharedTurn } from "../../../src/webhook/intake/turn-runner.ts";

const SMALL = 4_000;
const LARGE = LARGE_BYTES + 1;

test("callers that ask before the turn begins share it, and run in the order of asking", async () => {
  const turn = sharedTurn();
  const seen: string[] = [];
  const first = turn(SMALL).then(() => seen.push("first"));
  // A callback of the network: it comes before the turn, whatever it asks for comes with it.
  process.nextTick(() => {
    seen.push("read");
    void turn(SMALL).then(() => seen.push("second"));
  });
  await first;
  await turn(SMALL);
  expect(seen).toEqual(["read", "first", "second"]);
});

test("a caller that asks during a turn gets the next one and does not wait for ever", async () => {
  const turn = sharedTurn();
  const seen: string[] = [];
  await turn(SMALL).then(() => {
    void turn(SMALL).then(() => seen.push("next"));
    void Promise.resolve().then(() => seen.push("this"));
  });
  await turn(SMALL);
  expect(seen).toEqual(["this", "next"]);
});

test("large ones run one in a turn, in the order of asking, and an ordinary one waits for one of them at most", async () => {
  const turn = sharedTurn();
  const seen: string[] = [];
  const all = ["a", "b", "c"].map((name) => turn(LARGE).then(() => seen.push(name)));
  await all[0];
  expect(seen).toEqual(["a"]);
  const ordinary = turn(SMALL).then(() => seen.push("ordinary"));
  await Promise.all([...all, ordinary]);
  expect(seen.indexOf("ordinary")).toBeLessThanOrEqual(2);
  expect(seen.filter((name) => name !== "ordinary")).toEqual(["a", "b", "c"]);
});
