import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { EARLY_BUILD, npmArguments, readSelection, STEPS } from "./steps.ts";

test("every step of npm run test:all is a script of package.json", () => {
  const scripts = [...STEPS, EARLY_BUILD].flatMap(({ npmRun, landingRun }) => [
    npmRun[0],
    landingRun?.[0] ?? npmRun[0],
  ]);
  expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name ?? ""))).toEqual([]);
});

test("every test suite is a step of npm run test:all, or a part of another step", () => {
  const suites = Object.keys(manifest.scripts).filter((name) => /^(test|check|e2e)/.test(name));
  const separateSuites = [
    "test:all",
    "test:stability",
    "test:fuzz",
    "test:mutation",
    "test:pods",
    "test:processes:landing",
  ];
  expect(suites.filter((name) => !separateSuites.includes(name)).toSorted()).toEqual(
    [...new Set(STEPS.map(({ npmRun }) => npmRun[0]))].toSorted(),
  );
});

test("the option --landing runs the shorter command of a step, or the complete step if it has no shorter command", () => {
  const selection = { isLanding: true, steps: STEPS };
  const [stepWithoutLandingRun, stepWithLandingRun] = [
    STEPS.find(({ landingRun }) => !landingRun),
    STEPS.find(({ landingRun }) => landingRun),
  ];
  expect(stepWithoutLandingRun && npmArguments(stepWithoutLandingRun, selection)).toEqual(
    stepWithoutLandingRun?.npmRun,
  );
  expect(stepWithLandingRun && npmArguments(stepWithLandingRun, selection)).toEqual(stepWithLandingRun?.landingRun);
  expect(stepWithLandingRun && npmArguments(stepWithLandingRun, { ...selection, isLanding: false })).toEqual(
    stepWithLandingRun?.npmRun,
  );
});

test("steps are selected by name and run in the order of the list", () => {
  expect(readSelection(["chart", "checks"])).toEqual({
    isLanding: false,
    steps: STEPS.filter(({ name }) => name === "checks" || name === "chart"),
  });
  expect(readSelection(["--landing", "charts"])).toEqual({
    message: expect.stringMatching(/^There is no step "charts"\. Steps: "tests", /),
  });
});
