import { expect, test } from "vitest";
import { drainAnnotations, readOptions } from "../../src/demo/options.ts";

const annotationsFor = (...args: string[]) => drainAnnotations(readOptions(args).options);

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
  const { problems } = readOptions(["--propagation=2", "--driver=envoy", "--replicas=9", "--path=x"]);
  expect(problems).toEqual([
    '--replicas got "9", expected a number from 1 to 5.',
    '--path got "x", expected a path that begins with /.',
    '--propagation got "2", expected a duration with a unit, such as 2s.',
    '--driver got "envoy", expected none or http.',
  ]);
});

test("the relay is there unless it is left out", () => {
  expect(readOptions([]).options.relay).toBe(true);
  expect(readOptions(["--no-relay"]).options.relay).toBe(false);
});

test("an unknown flag is a problem", () => {
  expect(readOptions(["--propagatoin=2s"]).problems.join()).toContain("--propagatoin");
});

test.for([
  { flag: "--propagation=10m", says: '--propagation got "10m", expected at most 30s.' },
  { flag: "--drain-delay=10h", says: '--drain-delay got "10h", expected at most 2m.' },
  { flag: "--drain-timeout=1h", says: '--drain-timeout got "1h", expected at most 10m.' },
])("a $flag that no one would wait for is refused", ({ flag, says }) => {
  expect(readOptions([flag]).problems).toEqual([says]);
});

test("a forgotten value is told in one line", () => {
  expect(readOptions(["--propagation", "-1s"]).problems).toEqual([
    "Option '--propagation' argument is ambiguous. See lastcall demo --help.",
  ]);
  expect(readOptions(["--path"]).problems).toEqual([
    "Option '--path <value>' argument missing. See lastcall demo --help.",
  ]);
});

test("three choices are listed as a person would", () => {
  expect(readOptions(["--network=x"]).problems).toEqual(['--network got "x", expected auto, namespace or loopback.']);
});

test("a flag of the sample beside one's own Deployment is refused instead of ignored, and the other way round", () => {
  expect(readOptions(["-f", "web.yaml", "--replicas=3"]).problems.join()).toContain("--replicas is for the sample");
  expect(readOptions(["--path=/x"]).problems.join()).toContain("--path is for your own Deployment");
});
