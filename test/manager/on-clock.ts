/** Stories of real managers on a clock of their own, which moves when nothing else does: `test/clock/test-clock.ts`. */
import { createTestClock, type TestClock } from "../clock/test-clock.ts";
import { type Build, CLOCKED_NATIVE_BUILD, CLOCKED_NODE_BUILD, describeBuilds } from "./builds.ts";

/** A group of stories for each build that can follow a clock. */
export function describeOnClock(title: string, stories: (build: Build) => void): void {
  describeBuilds(title, stories, [CLOCKED_NODE_BUILD, CLOCKED_NATIVE_BUILD]);
}

/** One story; whatever it waits for moves its clock. */
export function onClock<Row extends readonly unknown[]>(
  story: (clock: TestClock, ...row: Row) => Promise<void>,
): (...row: Row) => Promise<void> {
  return async (...row) => {
    const clock = await createTestClock();
    try {
      await clock.runUntil(story(clock, ...row));
    } finally {
      await clock.end();
    }
  };
}
