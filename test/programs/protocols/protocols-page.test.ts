import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { endingOf, type Release } from "./ending.ts";
import { settingFor, withProtocols } from "./protocols-page.ts";
import { endings } from "./scene.ts";
import { SCENES } from "./scenes.ts";

const PAGE = new URL("../../../docs/protocols.md", import.meta.url);

test("the page's table has a row for each scene, with the endings that runs confirm; test:programs -- -u writes it", () => {
  const page = readFileSync(PAGE, "utf8");
  expect(page).toBe(withProtocols(page, SCENES));
});

test("no two scenes have one name", () => {
  const names = SCENES.map(({ protocol, client }) => `${protocol}: ${client}`);
  expect(new Set(names).size).toBe(names.length);
});

test("a page without the marks is refused", () => {
  expect(() => withProtocols("no marks here", SCENES)).toThrow("no section between");
});

test.for([
  ["nothing", endings("quiet", "deadline", "quiet", "quiet")],
  ["`active-url`", endings("deadline", "deadline", "quiet", "quiet")],
  ["`active-url`", endings("unsure", "deadline", "quiet", "quiet")],
  ["`active-url`, `drain-url`", endings("deadline", "deadline", "cut", "quiet")],
  ["nothing helps", endings("deadline", "deadline", "cut", "deadline")],
] as const)("%s is the least that helps", ([setting, all]) => {
  expect(settingFor(all)).toBe(setting);
});

const RELEASE: Release = {
  criterion: "quiet",
  outcome: "drained",
  left: 1,
  openWork: 0,
  openConnections: 1,
  sinceTrafficMs: 1_000,
  quietPeriodMs: 1_000,
};

test.for([
  { says: "the quiet period after the last traffic", over: {}, ending: "quiet" },
  { says: "too early with an answer outstanding", over: { openWork: 1 }, ending: "cut" },
  { says: "too early while traffic goes on", over: { sinceTrafficMs: 300 }, ending: "cut" },
  { says: "no cut where no one is connected", over: { left: 0, sinceTrafficMs: 0 }, ending: "quiet" },
  { says: "the deadline whatever is open", over: { outcome: "timeout", openWork: 1 }, ending: "deadline" },
  { says: "the close of all connections", over: { criterion: "connections", openConnections: 0 }, ending: "closed" },
  { says: "too early with a connection open", over: { criterion: "connections" }, ending: "cut" },
] as const)("a release is $says", ({ over, ending }) => {
  expect(endingOf({ ...RELEASE, ...over })).toBe(ending);
});

test("a drain that was not one has no ending", () => {
  expect(() => endingOf({ ...RELEASE, outcome: "restarted" })).toThrow("ended as restarted");
});
