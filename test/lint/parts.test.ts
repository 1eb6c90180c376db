/** Tests the parsers and selectors that lint rules use. */
import { describe, expect, test } from "vitest";
import { isBefore, parseImage } from "../../src/kubernetes/image.ts";
import { selects, selectsByLabels } from "../../src/lint/manifest-set.ts";
import { ingressTimeouts } from "../../src/lint/rules/grace.ts";
import { minimumSeconds, shellScriptOf } from "../../src/lint/sleeps.ts";

describe("a label selector", () => {
  const labels = { app: "web", tier: "front" };
  const expression = (operator: string, key: string, ...values: string[]) => ({
    matchExpressions: [{ key, operator, values }],
  });

  test.for([
    { selector: undefined, isSelected: false },
    { selector: {}, isSelected: true },
    { selector: { matchLabels: { app: "web" } }, isSelected: true },
    { selector: { matchLabels: { app: "web", tier: "back" } }, isSelected: false },
    { selector: expression("In", "app", "api", "web"), isSelected: true },
    { selector: expression("In", "app", "api"), isSelected: false },
    { selector: expression("NotIn", "app", "web"), isSelected: false },
    { selector: expression("NotIn", "zone", "web"), isSelected: true },
    { selector: expression("Exists", "tier"), isSelected: true },
    { selector: expression("Exists", "zone"), isSelected: false },
    { selector: expression("DoesNotExist", "tier"), isSelected: false },
    { selector: expression("DoesNotExist", "zone"), isSelected: true },
    { selector: expression("Near", "app", "web"), isSelected: false },
    { selector: { matchLabels: { app: "api" }, ...expression("Exists", "tier") }, isSelected: false },
  ])("selects a Pod: $isSelected, if the selector is $selector", ({ selector, isSelected }) => {
    expect(selects(selector, labels)).toBe(isSelected);
  });

  test("of a Service does not select any Pod if the selector is empty", () => {
    expect(selectsByLabels({}, labels)).toBe(false);
    expect(selectsByLabels({ toString: "web" }, labels)).toBe(false);
  });
});

describe("an image reference in lint", () => {
  test.for([
    { reference: "nginx", repository: "nginx", tag: "", version: undefined },
    { reference: "docker.io/library/nginx:1.18", repository: "nginx", tag: "1.18", version: [1, 18, undefined] },
    {
      reference: "index.docker.io/nginx:v1.18.2-alpine",
      repository: "nginx",
      tag: "v1.18.2-alpine",
      version: [1, 18, 2],
    },
    { reference: "localhost:5000/nginx", repository: "localhost:5000/nginx", tag: "", version: undefined },
    { reference: "nginx:1.18@sha256:00", repository: "nginx", tag: "1.18", version: [1, 18, undefined] },
    { reference: "nginx:1.2.3.4", repository: "nginx", tag: "1.2.3.4", version: undefined },
    { reference: "nginx:stable", repository: "nginx", tag: "stable", version: undefined },
  ])("is split into its parts: $reference", ({ reference, ...parts }) => {
    expect(parseImage(reference)).toEqual(parts);
  });

  test.for([
    ["1.7.9", true],
    ["1.8.12", true],
    ["1.8.13", false],
    ["1.8", false],
    ["1.7", true],
    ["1.9.0", false],
    ["2.0.0", false],
    ["0.9", true],
    ["latest", false],
  ] as const)("with the tag %s is older than 1.8.13: %s", ([tag, before]) => {
    expect(isBefore(parseImage(`a:${tag}`), [1, 8, 13])).toBe(before);
  });
});

describe("the shell script of a command", () => {
  test.for([
    { command: ["sh", "-c", "a"], script: "a" },
    { command: ["/bin/bash", "-ec", "a"], script: "a" },
    { command: ["sh", "-x", "-c", "a", "b"], script: "a" },
    { command: ["sh", "a.sh", "-c", "b"], script: undefined },
    { command: ["sh", "-c"], script: undefined },
    { command: ["sh"], script: undefined },
    { command: ["python", "-c", "a"], script: undefined },
    { command: [7, "-c", "a"], script: undefined },
    { command: [], script: undefined },
  ])("is $script for $command", ({ command, script }) => {
    expect(shellScriptOf(command)).toBe(script);
  });
});

describe("the minimum sleep of a hook", () => {
  test.for([
    ["sleep 5; sleep 6", 11],
    ["sleep 5 && app stop", 5],
    ["app stop\nsleep 5s\n", 5],
    ["/bin/sleep 5 >/dev/null; app 2>&1; sleep 2", 2],
    ["if busy; then sleep 5; fi", 0],
    ["busy || sleep 5; app", 0],
    ["sleep 5 & app stop", 0],
    ["while busy; do sleep 1; done", 0],
    ["timeout 3 app; sleep 5", 0],
    ["sleep $DELAY; app", 0],
  ] as const)("with the script %j is %d s", ([script, seconds]) => {
    expect(minimumSeconds({ exec: { command: ["sh", "-c", script] } })).toBe(seconds);
  });
});

describe("the timeout of an ingress", () => {
  test.for([
    ["nginx.ingress.kubernetes.io/proxy-read-timeout", "60", 60],
    ["nginx.ingress.kubernetes.io/proxy-read-timeout", "60s", undefined],
    ["nginx.org/proxy-read-timeout", "2m", 120],
    ["haproxy.org/timeout-server", "1h", 3_600],
    ["haproxy-ingress.github.io/timeout-server", "500ms", 0.5],
    ["projectcontour.io/response-timeout", "infinity", undefined],
    ["alb.ingress.kubernetes.io/target-group-attributes", "a=1, deregistration_delay.timeout_seconds=9", 9],
    ["alb.ingress.kubernetes.io/target-group-attributes", "a=1", undefined],
    ["nginx.ingress.kubernetes.io/proxy-read-timeout", 60, undefined],
  ] as const)("is read from the annotation %s with the value %s", ([annotation, value, seconds]) => {
    expect(ingressTimeouts({ [annotation]: value }).map((timeout) => timeout.seconds)).toEqual(
      seconds === undefined ? [] : [seconds],
    );
  });
});

test("a command with an item that is not a string is not a shell script", () => {
  expect(shellScriptOf(["sh", { toString: [] }, "sleep 5"])).toBeUndefined();
});
