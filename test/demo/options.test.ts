import { expect, test } from "vitest";
import { drainAnnotations, readOptions } from "../../src/demo/options.ts";
import { problemText } from "../../src/settings/read-settings.ts";

const problemsOf = (...args: string[]) => readOptions(args).problems.map(problemText);
const annotationsFor = (...args: string[]) => drainAnnotations(readOptions(args).settings);

test("the demo does not set a drain delay if the default is longer than the propagation delay", () => {
  expect(annotationsFor()).toEqual({});
  expect(annotationsFor("--propagation", "0s")).toEqual({});
});

test("a long propagation delay raises the drain delay unless --drain-delay is set", () => {
  expect(annotationsFor("--propagation=8s")).toEqual({ "lastcall.dev/drain-delay": "11s" });
  expect(annotationsFor("--propagation=8s", "--drain-delay=9500ms")).toEqual({
    "lastcall.dev/drain-delay": "9500ms",
  });
});

test("--drain-timeout sets the drain timeout of the Pods, which --endless-clients does not change", () => {
  expect(annotationsFor("--endless-clients")).toEqual({});
  expect(annotationsFor("--endless-clients", "--drain-timeout=3s")).toEqual({ "lastcall.dev/drain-timeout": "3s" });
});

test("every invalid flag of the demo is reported", () => {
  expect(problemsOf("--propagation=2", "--driver=envoy", "--replicas=9", "--path=x")).toEqual([
    '--propagation: Got "2", expected a duration with a unit, such as 5s or 500ms, of at most 30s.',
    '--driver: Got "envoy", expected one of none, http.',
    '--replicas: Got "9", expected a number from 1 to 5.',
    '--path: Got "x", expected a path that begins with /.',
  ]);
});

test("--no-relay disables the relay", () => {
  expect(readOptions([]).settings.withoutRelay).toBe(false);
  expect(readOptions(["--no-relay"]).settings.withoutRelay).toBe(true);
});

test("an unknown flag is reported with the nearest known flag", () => {
  expect(problemsOf("--propagatoin=2s")).toEqual(['"--propagatoin": Unknown flag; did you mean --propagation?']);
});

test.for([
  { flag: "--propagation=10m", limit: "30s" },
  { flag: "--drain-delay=10h", limit: "2m" },
  { flag: "--drain-timeout=1h", limit: "10m" },
])("$flag is rejected because it exceeds $limit", ({ flag, limit }) => {
  expect(problemsOf(flag)).toEqual([expect.stringContaining(`of at most ${limit}.`)]);
});

test("a flag without its value and a value for a flag without values are reported", () => {
  expect(problemsOf("--json=yes", "--path")).toEqual(["--json: Takes no value.", "--path: Missing value."]);
});

test("flags of the sample app are rejected with -f, and --path is rejected without -f", () => {
  expect(problemsOf("-f", "web.yaml", "--shutdown=graceful")).toEqual([
    "--shutdown: Applies only to the sample Deployment; set lastcall.dev/shutdown in your Deployment's Pod template.",
  ]);
  expect(problemsOf("-f", "web.yaml", "--replicas=3")).toEqual([
    "--replicas: Applies only to the sample Deployment; set spec.replicas in your Deployment.",
  ]);
  for (const path of ["/", "/x"])
    expect(problemsOf(`--path=${path}`)).toEqual([
      "--path: Applies only to your own Deployment; add -f FILE or remove --path.",
    ]);
});
