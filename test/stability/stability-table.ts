/** Formats the runs as a table, and the failures by test. Pure. */
import type { RunResult } from "./one-run.ts";

const MESSAGE_LENGTH = 600;

export function stabilityTable(results: readonly RunResult[]): string {
  const names = [...new Set(results.map(({ condition }) => condition))];
  const rows = names.map((name) => {
    const runs = results.filter(({ condition }) => condition === name);
    const failed = runs.filter(({ failures }) => failures.length > 0).length;
    const seconds = runs.map((run) => Math.round(run.seconds));
    const tests = [...new Set(runs.map((run) => run.tests))].join(", ");
    return `| ${name} | ${runs.length} | ${failed} | ${tests} | ${Math.min(...seconds)}–${Math.max(...seconds)} |`;
  });
  return ["| condition | runs | failed runs | tests | seconds |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** @returns a paragraph for each failed test; the most frequent first */
export function failuresByTest(results: readonly RunResult[]): readonly string[] {
  const failures = results.flatMap(({ condition, failures }) => failures.map((failure) => ({ condition, ...failure })));
  return [...new Set(failures.map(({ test }) => test))]
    .map((test) => ({ test, failures: failures.filter((failure) => failure.test === test) }))
    .toSorted((left, right) => right.failures.length - left.failures.length)
    .map(({ test, failures }) => {
      const conditions = failures.map(({ condition }) => condition).join(", ");
      return `${failures.length} × ${test} (${conditions})\n${failures[0]?.message.slice(0, MESSAGE_LENGTH)}`;
    });
}
