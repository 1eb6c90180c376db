import { expect, test } from "vitest";
import { createTurns, LARGE_BYTES, LARGE_TURN_BYTES } from "../../../src/webhook/intake/turn-runner.ts";

const ADDRESS = "10.0.0.1";
const SMALL_REVIEW_BYTES = 4_000;
const LARGE_REVIEW_BYTES = LARGE_BYTES + 1;

test("admissions that arrive before a turn of the event loop run in that turn, in the order of arrival", async () => {
  const { start } = createTurns(() => 0);
  const order: string[] = [];
  const first = start(SMALL_REVIEW_BYTES, ADDRESS).then(() => order.push("first"));
  // This callback runs before the turn, as a network callback does, so its request joins the turn.
  process.nextTick(() => {
    order.push("read");
    void start(SMALL_REVIEW_BYTES, ADDRESS).then(() => order.push("second"));
  });
  await first;
  await start(SMALL_REVIEW_BYTES, ADDRESS);
  expect(order).toEqual(["read", "first", "second"]);
});

test("an admission that arrives during a turn of the event loop runs in the next turn", async () => {
  const { start } = createTurns(() => 0);
  const order: string[] = [];
  await start(SMALL_REVIEW_BYTES, ADDRESS).then(() => {
    void start(SMALL_REVIEW_BYTES, ADDRESS).then(() => order.push("next"));
    void Promise.resolve().then(() => order.push("this"));
  });
  await start(SMALL_REVIEW_BYTES, ADDRESS);
  expect(order).toEqual(["this", "next"]);
});

/** Runs an admission, which may wait for a lookup between its start and its response. */
async function admit(
  { start, finish }: ReturnType<typeof createTurns>,
  { name, bytes = LARGE_REVIEW_BYTES, lookup }: { name: string; bytes?: number; lookup?: Promise<void> },
  order: string[],
): Promise<void> {
  await start(bytes, ADDRESS);
  order.push(`${name} begins`);
  if (lookup !== undefined) await lookup;
  await finish(bytes);
  order.push(`${name} leaves`);
}

test("large admissions of a turn run in sequence, and their responses are sent together", async () => {
  const turns = createTurns(() => 0);
  const order: string[] = [];
  await Promise.all(["a", "b", "c"].map((name) => admit(turns, { name }, order)));
  expect(order).toEqual(["a begins", "b begins", "c begins", "a leaves", "b leaves", "c leaves"]);
});

test("a small admission waits for at most one turn of large admissions, which has a byte limit", async () => {
  const turns = createTurns(() => 0);
  const order: string[] = [];
  const first = admit(turns, { name: "a", bytes: LARGE_TURN_BYTES }, order);
  const otherAdmissions = ["b", "c"].map((name) => admit(turns, { name, bytes: LARGE_TURN_BYTES / 2 }, order));
  const lastAdmission = admit(turns, { name: "d" }, order);
  await first;
  expect(order).toEqual(["a begins", "a leaves"]);
  await admit(turns, { name: "small", bytes: SMALL_REVIEW_BYTES }, order);
  expect(order.slice(2, 4)).toEqual(["small begins", "small leaves"]);
  await Promise.all([...otherAdmissions, lastAdmission]);
  expect(order.slice(4)).toEqual(["b begins", "c begins", "b leaves", "c leaves", "d begins", "d leaves"]);
});

test("a large admission that waits for a namespace lookup does not delay other responses", async () => {
  const turns = createTurns(() => 0);
  const order: string[] = [];
  let resolveLookup = (): void => {};
  const lookup = new Promise<void>((resolve) => {
    resolveLookup = resolve;
  });
  const slowAdmission = admit(turns, { name: "slow", lookup }, order);
  await admit(turns, { name: "quick" }, order);
  expect(order).toEqual(["slow begins", "quick begins", "quick leaves"]);
  resolveLookup();
  await slowAdmission;
  expect(order.at(-1)).toBe("slow leaves");
});

test("admissions of different client addresses alternate, however many admissions one address sends", async () => {
  for (const bytes of [SMALL_REVIEW_BYTES, LARGE_REVIEW_BYTES]) {
    const { start } = createTurns(() => 0);
    const order: string[] = [];
    const startAdmission = (name: string, address: string) => start(bytes, address).then(() => order.push(name));
    await Promise.all(
      [..."abcd"].map((name) => startAdmission(name, "10.0.0.9")).concat(startAdmission("other", "10.0.0.2")),
    );
    expect(order).toEqual(["a", "other", "b", "c", "d"]);
  }
});

test("a turn of small admissions ends after 5 ms, and sockets are served before the next turn", async () => {
  let nowMs = 0;
  const { start } = createTurns(() => nowMs);
  const order: string[] = [];
  const work = (name: string) =>
    start(LARGE_BYTES, ADDRESS).then(() => {
      nowMs += 2;
      order.push(name);
    });
  const admissions = [..."abcdef"].map(work);
  setImmediate(() => order.push("sockets"));
  await Promise.all(admissions);
  expect(order).toEqual(["a", "b", "c", "sockets", "d", "e", "f"]);
});

test("16 small admissions form a batch, in which each admission continues only after all have started", async () => {
  for (const bytes of [4096, 0]) {
    let nowMs = 0;
    const { start } = createTurns(() => nowMs);
    const order: string[] = [];
    const work = async (): Promise<void> => {
      await start(bytes, ADDRESS);
      order.push("first");
      nowMs += 1;
      await Promise.resolve();
      order.push("second");
    };
    const all = Array.from({ length: 20 }, work);
    setImmediate(() => order.push("sockets"));
    await Promise.all(all);
    const parts = (count: number) => [...Array(count).fill("first"), ...Array(count).fill("second")];
    expect(order).toEqual([...parts(16), "sockets", ...parts(4)]);
  }
});

test("a turn of large admissions waits until small admissions have had twice the time of the previous turn", async () => {
  let nowMs = 0;
  const { start } = createTurns(() => nowMs);
  const order: string[] = [];
  const work = (name: string, bytes: number, ms: number) =>
    start(bytes, ADDRESS).then(() => {
      nowMs += ms;
      order.push(name);
    });
  // A large admission is as large as the limit of a turn, so that a turn contains only one of them.
  const largeAdmissions = ["L1", "L2"].map((name) => work(name, LARGE_TURN_BYTES, 49));
  const smallAdmissions = Array.from({ length: 40 }, () => work("o", LARGE_BYTES, 5));
  await Promise.all([...largeAdmissions, ...smallAdmissions]);
  const between = order.slice(order.indexOf("L1") + 1, order.indexOf("L2"));
  expect(between).toHaveLength(Math.ceil((2 * 49) / 5));
});

test.for([
  { ms: 3, turns: 1 },
  { ms: 12, turns: 2 },
  { ms: 100, turns: 4 },
])(
  "the number of event loop turns between two turns of large admissions of $ms ms is $turns",
  async ({ ms, turns }) => {
    let nowMs = 0;
    const { start } = createTurns(() => nowMs);
    let counted = 0;
    let isOver = false;
    const count = (): void => {
      counted += 1;
      if (!isOver) setImmediate(count);
    };
    const first = start(LARGE_TURN_BYTES, ADDRESS).then(() => {
      nowMs += ms;
      setImmediate(count);
    });
    await Promise.all([first, start(LARGE_TURN_BYTES, ADDRESS)]);
    isOver = true;
    expect(counted).toBe(turns);
  },
);
