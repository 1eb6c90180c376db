import { expect, test } from "vitest";
import { drainAnnotations, readOptions } from "../../src/demo/options.ts";
import { problemText } from "../../src/settings/read-settings.ts";

const problemsOf = (...args: string[]) => readOptions(args).problems.map(problemText);
const annotationsFor = (...args: string[]) => drainAnnotations(readOptions(args).settings);

test("the drain delay is left to the product where the default outlasts the propagation", () => {
  expect(annotationsFor()).toEqual({});
  expect(annotationsFor("--propagation", "0s")).toEqual({});
});

test("the drain delay is raised above a long propagation, and a chosen one wins", () => {
  expect(annotationsFor("--propagation=8s")).toEqual({ "lastcall.dev/drain-delay": "11s" });
  expect(annotationsFor("--propagation=8s", "--drain-delay=9500ms")).toEqual({
    "lastcall.dev/drain-delay": "9500ms",
  });
});

test("with clients that never leave the drain timeout is short unless one is chosen", () => {
  expect(annotationsFor("--endless-clients")).toEqual({ "lastcall.dev/drain-timeout": "8s" });
  expect(annotationsFor("--endless-clients", "--drain-timeout=3s")).toEqual({ "lastcall.dev/drain-timeout": "3s" });
});

test("every wrong flag is told, each in a sentence", () => {
  expect(problemsOf("--propagation=2", "--driver=envoy", "--replicas=9", "--path=x")).toEqual([
    '--propagation: Got "2", expected a duration with a unit, such as 5s or 500ms, of at most 30s.',
    '--driver: Got "envoy", expected one of none, http.',
    '--replicas: Got "9", expected a number from 1 to 5.',
    '--path: Got "x", expected a path that begins with /.',
  ]);
});

test("the relay is there unless it is left out", () => {
  expect(readOptions([]).settings.withoutRelay).toBe(false);
  expect(readOptions(["--no-relay"]).settings.withoutRelay).toBe(true);
});

test("an unknown flag is a problem", () => {
  expect(problemsOf("--propagatoin=2s")).toEqual(['"--propagatoin": Unknown flag; did you mean --propagation?']);
});

test.for([
  { flag: "--propagation=10m", limit: "30s" },
  { flag: "--drain-delay=10h", limit: "2m" },
  { flag: "--drain-timeout=1h", limit: "10m" },
])("$flag is refused: it is longer than a demo takes", ({ flag, limit }) => {
  expect(problemsOf(flag)).toEqual([expect.stringContaining(`of at most ${limit}.`)]);
});

test("a missing value, and a value that a switch does not take, are problems", () => {
  expect(problemsOf("--json=yes", "--path")).toEqual(["--json: Takes no value.", "--path: Missing value."]);
});

test("a flag of the sample beside one's own Deployment is refused instead of ignored, and the other way round", () => {
  expect(problemsOf("-f", "web.yaml", "--replicas=3")).toEqual([
    "--replicas: It is for the sample; write spec.replicas into your Deployment.",
  ]);
  for (const path of ["/", "/x"])
    expect(problemsOf(`--path=${path}`)).toEqual([
      "--path: It is for your own Deployment (-f FILE); the sample answers every path.",
    ]);
});
