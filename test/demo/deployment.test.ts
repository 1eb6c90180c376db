import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { objectAt, textAt } from "../../src/demo/json-reading.ts";
import { annotated, podOf, sampleDeployment, servicePort } from "../../src/demo/rollout/deployment.ts";
import { readDeployment } from "../../src/demo/rollout/deployment-file.ts";

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
  { says: "no containers", text: "kind: Deployment\nmetadata: {name: web}", tells: "has no containers" },
  { says: "no Deployment", text: "kind: Pod", tells: "holds no Deployment" },
  { says: "text that is not YAML", text: "a: [", tells: "is no YAML or JSON" },
  { says: "an empty file", text: "", tells: "holds no Deployment" },
])("a file with $says is refused with a sentence", async ({ text, tells }) => {
  const { problems } = await readDeployment(file(text));
  expect(problems.join("\n")).toContain(tells);
});

test("a file that is not there is refused with a sentence", async () => {
  expect((await readDeployment(join(folder, "nothing.yaml"))).problems.join()).toContain("cannot be read");
});
