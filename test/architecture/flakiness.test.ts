/** Tests do not depend on the speed of the host, or on a port that may be in use. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FLAKY_EXCEPTIONS, FLAKY_RULES, flakyMatches } from "./flakiness-rules.ts";

const ROOT = join(import.meta.dirname, "../..");
const files = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .map((file) => `test/${file}`)
  // Excludes installed packages, which contain their own tests.
  .filter((file) => file.endsWith(".ts") && !file.includes("/node_modules/") && statSync(join(ROOT, file)).isFile());

test.for(files)("the test %s does not depend on timing or free ports", (file) => {
  expect(flakyMatches(file, readFileSync(join(ROOT, file), "utf8"))).toEqual([]);
});

const PROGRAM = 'import { call } from "./manager-process.ts";\n';

describe("the rules about flaky tests", () => {
  const flakySources: Readonly<Record<string, readonly string[]>> = {
    "a pause without a reason": [
      'import { setTimeout as pause } from "node:timers/promises";',
      "await new Promise((resolve) => setTimeout(resolve, 100));",
      "const nap = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));",
      "return new Promise((done) => {\n  setTimeout(() => done(), ms);\n});",
      "await realClock.wait(300);",
      "const nap = promisify(setTimeout);",
      'await pause(100, "wait");',
      'import {\n  call,\n  pause,\n} from "./manager-process.ts";',
    ],
    "a wait with its own time limit": [
      "await vi.waitFor(() => expect(received).toBe(2), { timeout: 8_000 });",
      "await expect.poll(() => open, { timeout: 40_000 }).toBe(0);",
      "async function until(condition: () => boolean): Promise<void> {",
      "const eventually = async (check: () => void) => {",
      "const waitFor = check => {",
      "while (early.length < 4) await pause(20);",
      "while (!over) {\n  await sleep(20);",
    ],
    "an upper bound on real time": [
      "expect(performance.now() - startMs).toBeLessThan(8_000);",
      "expect(Date.now() - stoppedMs, output).toBeLessThanOrEqual(LATE_MS + lag());",
      "expect(seen.goneMs).toBeLessThan(2_000);",
      'expect(secondsBetween(web, "deleted", "gone")).toBeLessThan(\n  20,\n);',
      "expect(report.milliseconds.withdrawing).not.toBeGreaterThan(3_000);",
    ],
    "an upper bound on real time in a comparison": ["expect(performance.now() - startMs < 500).toBe(true);"],
    "an upper bound on the duration of a real program": [
      `${PROGRAM}expect(end.ms).toBeLessThan(LATE_MS);`,
      `${PROGRAM}expect(ms).toBeLessThan(10_000);`,
      `${PROGRAM}expect(report.withdrawnAfterMs).toBeLessThan(3_000);`,
    ],
    "a well-known port that is assumed to be free": [
      'connect({ host: "127.0.0.1", port: 1 });',
      'connect(1, "127.0.0.1");',
      "await connectionTo(1).request();",
      'connects("localhost", 9);',
      'await fetch("http://127.0.0.1:9/");',
      'counted({ url: "http://127.0.0.1:9" }, notes);',
      'const settings = { driverUrl: "http://localhost:1" };',
    ],
  };

  test("have at least one example each", () => {
    expect(Object.keys(flakySources).sort()).toEqual(FLAKY_RULES.map(({ name }) => name).sort());
  });

  test.for(Object.entries(flakySources).flatMap(([name, sources]) => sources.map((source) => ({ name, source }))))(
    "$name: $source",
    ({ name, source }) => {
      expect(flakyMatches("test/x.test.ts", source).map((line) => line.split("; instead")[0])).toEqual([
        expect.stringContaining(name),
      ]);
    },
  );

  test.for([
    "setTimeout(() => res.end(), 100);",
    "new Promise((resolve) => server.listen(0, resolve));",
    "expect(performance.now() - startMs).toBeGreaterThan(1_900);",
    "expect(one.ms).toBeGreaterThan(5);\nexpect(asked.length).toBeLessThan(8);",
    "expect(played.answered.get(1)).toBeLessThanOrEqual(FLOOR_MS + 10);",
    "expect(performance.now() - stoppedMs).toBeLessThan(8_000); // bound: the exit must not wait for the request",
    `${PROGRAM}expect(end.ms).toBeGreaterThan(950);\nexpect(open.length).toBeLessThan(256);`,
    "expect(played.answered.get(1)).toBe(get(2));",
    "const until = events.at(-1)?.nowMs ?? 0;",
    'connect({ host: "127.0.0.1", port: 8_080 });',
    "connect({ host: ownAddress(), port: 1 });",
    "while (!over) {\n  kill(pid);\n  await pause(100, why);\n}",
  ])("do not match: %s", (source) => {
    expect(flakyMatches("test/x.test.ts", source)).toEqual([]);
  });

  test("have exceptions with an existing folder and a reason", () => {
    for (const { under, because } of FLAKY_EXCEPTIONS) {
      expect(files.filter((file) => file.startsWith(under)).length, under).toBeGreaterThan(0);
      expect(because).toMatch(/\w+ \w+/);
    }
    expect(flakyMatches("test/stability/x.ts", "await vi.waitFor(check);")).toEqual([]);
  });
});
