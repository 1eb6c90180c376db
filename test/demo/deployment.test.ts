import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { objectAt, textAt } from "../../src/demo/json.ts";
import { annotated, podOf, sampleDeployment, servicePort } from "../../src/demo/rollout/deployment.ts";
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

test("annotations reach the Pods, and what the author wrote wins", () => {
  const first = annotated(SAMPLE, { "lastcall.dev/drain-delay": "9s" });
  const second = annotated(first, { "lastcall.dev/drain-delay": "11s", "lastcall.dev/driver": "http" });
  expect(objectAt(podOf(second, "abc"), "metadata", "annotations")).toEqual({
    "lastcall.dev/drain-delay": "9s",
    "lastcall.dev/driver": "http",
  });
  expect(textAt(podOf(second, "abc"), "metadata", "generateName")).toBe("hello-abc-");
});

test("the Deployment is found among other documents of the file", async () => {
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
    says: "a container without a command",
    text: "kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: x, ports: [{containerPort: 1}]}]}}}",
    tells: "Container web of Deployment web names no command",
  },
  {
    says: "no port",
    text: "kind: Deployment\nspec: {template: {spec: {containers: [{name: web, command: [x]}]}}}",
    tells: "names no port",
  },
  {
    says: "a stop signal that is none",
    text: "kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: app, command: [x], ports: [{containerPort: 1}], lifecycle: {stopSignal: QUIT}}]}}}",
    tells: "Container app of Deployment web has the stopSignal QUIT, expected one of SIGTERM, SIGQUIT",
  },
  {
    says: "a port that cannot be",
    text: "kind: Deployment\nspec: {template: {spec: {containers: [{name: web, command: [x], ports: [{containerPort: 99999}]}]}}}",
    tells: "containerPort 99999, expected 1 to 65535",
  },
  {
    says: "aliases that multiply",
    text: ["a: &a [x,x,x,x,x,x,x,x,x,x]", ..."bcdef".split("").map((name, at) => bomb(name, "abcde"[at] ?? ""))].join(
      "\n",
    ),
    tells: "is no YAML or JSON: Excessive alias count",
  },
  { says: "no containers", text: "kind: Deployment\nmetadata: {name: web}", tells: "has no containers" },
  { says: "no Deployment", text: "kind: Pod", tells: "holds no Deployment" },
  { says: "text that is not YAML", text: "a: [", tells: "is no YAML or JSON" },
  { says: "an empty file", text: "", tells: "holds no Deployment" },
])("a file with $says is refused with a sentence", async ({ text, tells }) => {
  const { problems } = await readDeployment(file(text));
  expect(problems.join("\n")).toContain(tells);
});

function bomb(name: string, before: string): string {
  return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(",")}]`;
}

test("what is wrong with the text is told in one printable line", async () => {
  const { problems } = await readDeployment(file("a: b\u0001\n\tc: [d\n"));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/is no YAML or JSON: .+ at line [0-9]+, column [0-9]+$/);
});

test("a folder is refused with a sentence", async () => {
  expect((await readDeployment(folder)).problems.join()).toContain("cannot be read: it is a folder");
});

test("a file that is not there is refused with a sentence", async () => {
  expect((await readDeployment(join(folder, "nothing.yaml"))).problems.join()).toContain(
    "cannot be read: there is no such file",
  );
});
