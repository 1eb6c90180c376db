import { expect, test } from "vitest";
import { subjectProblem } from "./commit-subjects.ts";

test.for([
  ["Add a check of commit subjects", undefined],
  ["Keeper renamed to reconciler", undefined],
  ["Let the manager exit early", "name the change: Add, Fix, Rename, Cut, Move, Measure, …"],
  ["Take a source that fails for no blindness", "name the change: Add, Fix, Rename, Cut, Move, Measure, …"],
  [`Add ${"x".repeat(69)}`, "at most 72 characters, has 73"],
] as const)("the commit subject %j has the problem %s", ([subject, problem]) => {
  expect(subjectProblem(subject)).toBe(problem);
});
