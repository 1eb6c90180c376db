/** Runs tests of manager processes on a test clock, which advances when every process is idle. */
import { createTestClock, type TestClock } from "../clock/test-clock.ts";
import { type Build, CLOCKED_NATIVE_BUILD, CLOCKED_NODE_BUILD, describeBuilds } from "./builds.ts";

export function describeOnClock(title: string, cases: (build: Build) => void): void {
  describeBuilds(title, cases, [CLOCKED_NODE_BUILD, CLOCKED_NATIVE_BUILD]);
}

/** Wraps a test body, whose waits advance the test clock. */
export function onClock<Row extends readonly unknown[]>(
  body: (clock: TestClock, ...row: Row) => Promise<void>,
): (...row: Row) => Promise<void> {
  return async (...row) => {
    const clock = await createTestClock();
    try {
      await clock.runUntil(body(clock, ...row));
    } finally {
      await clock.end();
    }
  };
}
