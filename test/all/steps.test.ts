import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { AHEAD, readAsked, STEPS, wordsOf } from "./steps.ts";

test("every step of npm run test:all is a script of package.json", () => {
  const scripts = [...STEPS, AHEAD].flatMap(({ words, landing }) => [words[0], landing?.[0] ?? words[0]]);
  expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name ?? ""))).toEqual([]);
});

test("every test suite is a step of npm run test:all, or a part of another step", () => {
  const suites = Object.keys(manifest.scripts).filter((name) => /^(test|check|e2e)/.test(name));
  const apart = ["test:all", "test:stability", "test:fuzz", "test:mutation", "test:pods", "test:processes:landing"];
  expect(suites.filter((name) => !apart.includes(name)).toSorted()).toEqual(
    [...new Set(STEPS.map(({ words }) => words[0]))].toSorted(),
  );
});

test("a landing runs the shorter command of a step, or the complete step if there is none", () => {
  const asked = { landing: true, steps: STEPS };
  const [whole, part] = [STEPS.find(({ landing }) => !landing), STEPS.find(({ landing }) => landing)];
  expect(whole && wordsOf(whole, asked)).toEqual(whole?.words);
  expect(part && wordsOf(part, asked)).toEqual(part?.landing);
  expect(part && wordsOf(part, { ...asked, landing: false })).toEqual(part?.words);
});

test("steps are selected by name and run in the order of the list", () => {
  expect(readAsked(["chart", "checks"])).toEqual({
    landing: false,
    steps: STEPS.filter(({ name }) => name === "checks" || name === "chart"),
  });
  expect(readAsked(["--landing", "charts"])).toEqual({
    message: expect.stringMatching(/^There is no step "charts"\. Steps: "tests", /),
  });
});
