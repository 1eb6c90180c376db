import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { objectAt, textAt } from "../../src/demo/json.ts";
import {
  podOf,
  sampleDeployment,
  servicePort,
  withAnnotations,
  withSleepHooks,
} from "../../src/demo/rollout/deployment.ts";
import { readDeployment } from "../../src/demo/rollout/own-deployment.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lastcall-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(text: string): string {
  const path = join(folder, "deployment.yaml");
  writeFileSync(path, text);
  return path;
}

const SAMPLE = sampleDeployment({ command: ["node", "app.ts"], listensOnPodAddress: true, replicas: 2 });

test("annotations are added to the Pods of the Deployment unless they exist", () => {
  const first = withAnnotations(SAMPLE, { "lastcall.dev/drain-delay": "9s" });
  const second = withAnnotations(first, { "lastcall.dev/drain-delay": "11s", "lastcall.dev/driver": "http" });
  expect(objectAt(podOf(second, "abc"), "metadata", "annotations")).toEqual({
    "lastcall.dev/drain-delay": "9s",
    "lastcall.dev/driver": "http",
  });
  expect(textAt(podOf(second, "abc"), "metadata", "generateName")).toBe("hello-abc-");
});

test("the Deployment is read from a file with several documents", async () => {
  const path = file(`kind: Service\n---\nkind: Deployment\nmetadata: {name: web}\nspec:
  template:
    spec:
      containers:
      - {name: web, command: [./server], ports: [{containerPort: 9000}]}\n`);
  const { deployment, problems } = await readDeployment(path);
  expect(problems).toEqual([]);
  expect(servicePort(deployment)).toBe(9_000);
});

test.for([
  {
    title: "a container without a command",
    text: "kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: x, ports: [{containerPort: 1}]}]}}}",
    problem: "Container web of Deployment web has no command",
  },
  {
    title: "no containerPort",
    text: "kind: Deployment\nspec: {template: {spec: {containers: [{name: web, command: [x]}]}}}",
    problem: "has no containerPort",
  },
  {
    title: "an unknown stop signal",
    text: "kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: app, command: [x], ports: [{containerPort: 1}], lifecycle: {stopSignal: QUIT}}]}}}",
    problem: "Container app of Deployment web has the stopSignal QUIT, expected one of SIGTERM, SIGQUIT",
  },
  {
    title: "a containerPort out of range",
    text: "kind: Deployment\nspec: {template: {spec: {containers: [{name: web, command: [x], ports: [{containerPort: 99999}]}]}}}",
    problem: "containerPort 99999, expected 1 to 65535",
  },
  {
    title: "excessive aliases",
    text: [
      "a: &a [x,x,x,x,x,x,x,x,x,x]",
      ..."bcdef".split("").map((name, at) => repeatAlias(name, "abcde"[at] ?? "")),
    ].join("\n"),
    problem: "is not YAML or JSON: Excessive alias count",
  },
  { title: "no containers", text: "kind: Deployment\nmetadata: {name: web}", problem: "has no containers" },
  { title: "an object of another kind", text: "kind: Pod", problem: "does not contain a Deployment" },
  { title: "a syntax error", text: "a: [", problem: "is not YAML or JSON" },
  { title: "no content", text: "", problem: "does not contain a Deployment" },
])("a Deployment file with $title is rejected with the reason", async ({ text, problem }) => {
  const { problems } = await readDeployment(file(text));
  expect(problems.join("\n")).toContain(problem);
});

function repeatAlias(name: string, aliasedName: string): string {
  return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${aliasedName}`).join(",")}]`;
}

test("a syntax error of the Deployment file is reported in one printable line", async () => {
  const { problems } = await readDeployment(file("a: b\u0001\n\tc: [d\n"));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/is not YAML or JSON: .+ at line [0-9]+, column [0-9]+$/);
});

test("a directory is rejected as Deployment file", async () => {
  expect((await readDeployment(folder)).problems.join()).toContain("cannot be read: it is a directory");
});

test("a missing Deployment file is rejected", async () => {
  expect((await readDeployment(join(folder, "nothing.yaml"))).problems.join()).toContain(
    "cannot be read: the file does not exist",
  );
});

test("a sleep hook is added to each container without a preStop hook, and nothing else changes", () => {
  const own = { name: "own", lifecycle: { preStop: { exec: { command: ["stop"] } } } };
  const started = { name: "started", lifecycle: { postStart: { sleep: { seconds: 1 } } } };
  const deploymentOf = (containers: readonly object[]) => ({
    kind: "Deployment",
    spec: { replicas: 3, template: { metadata: { labels: { app: "web" } }, spec: { containers, hostname: "web" } } },
  });
  const preStop = { sleep: { seconds: 5 } };
  expect(withSleepHooks(deploymentOf([{ name: "bare" }, own, started]), 5)).toEqual(
    deploymentOf([
      { name: "bare", lifecycle: { preStop } },
      own,
      { name: "started", lifecycle: { postStart: { sleep: { seconds: 1 } }, preStop } },
    ]),
  );
});
