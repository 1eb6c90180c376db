/** Tests warnings and errors for empty, unrendered and malformed input. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { podProblem } from "../../src/cli/workload-report.ts";
import { isWellFormed } from "../../src/kubernetes/pod.ts";
import { lastcall } from "./run-lastcall.ts";

const TEMPLATE = "spec:\n  template:\n    spec:\n      containers:\n      - name: app\n        image: shop/web:1\n";
const DEPLOYMENT = `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n${TEMPLATE}`;

const inject = (text: string) => lastcall(["inject"], { "-": text });

describe("input without a workload", () => {
  test.for(["inject", "diff", "explain", "uninject"])("is reported by %s", async (command) => {
    const { status, err } = await lastcall([command], { "-": "apiVersion: v1\nkind: ConfigMap\n" });
    expect(status).toBe(0);
    expect(err).toBe("nothing to do: no Pods or workloads found in standard input\n");
  });

  test("is reported with the path if the file is empty", async () => {
    const { status, err } = await lastcall(["inject", "-f", "empty.yaml"], { "empty.yaml": "" });
    expect({ status, err }).toEqual({ status: 0, err: "nothing to do: no Pods or workloads found in empty.yaml\n" });
  });
});

describe("an unrendered template in quotes", () => {
  test.for([
    {
      title: "the name of a workload",
      text: DEPLOYMENT.replace("name: web", 'name: "{{ .Release.Name }}-web"'),
      line: 4,
      column: 9,
    },
    {
      title: "the image of a container",
      text: DEPLOYMENT.replace("shop/web:1", "'{{ .Values.image }}'"),
      line: 10,
      column: 16,
    },
  ])("is not changed and causes a warning if it is $title", async ({ text, line, column }) => {
    const { status, err } = await inject(text);
    expect(status).toBe(0);
    expect(err).toContain(
      `warning: standard input, document 1, line ${line}, column ${column}: this looks like an unrendered template`,
    );
  });

  test("does not cause a warning in a command or a ConfigMap", async () => {
    const manifest = DEPLOYMENT.replace("image: shop/web:1", 'image: b\n        args: ["{{ $labels.pod }}"]');
    expect((await inject(manifest)).err).not.toContain("template");
    const result = await inject("apiVersion: v1\nkind: ConfigMap\ndata: {rule: '{{ .x }}'}\n");
    expect(result.err).not.toContain("template");
  });
});

describe("the report of an invalid object", () => {
  test("contains the missing field of a Deployment without a Pod template", async () => {
    const { status, err } = await inject("apiVersion: apps/v1\nkind: Deployment\nspec: []\n");
    expect(status).toBe(0);
    expect(err).toContain(
      "standard input, document 1: this Deployment has no mapping at spec.template; left unchanged",
    );
  });

  test.for([
    {
      part: "metadata",
      text: "metadata: [a]\nspec: {containers: [{name: a}]}",
      problem: "metadata is a list, expected a mapping",
    },
    {
      part: "annotations",
      text: "metadata: {annotations: [a]}\nspec: {containers: [{name: a}]}",
      problem: "metadata.annotations is a list, expected a mapping",
    },
    { part: "spec", text: "spec: null", problem: "spec is null, expected a mapping" },
    {
      part: "containers",
      text: "spec: {containers: x}",
      problem: 'spec.containers is the string "x", expected a list',
    },
    {
      part: "one container",
      text: "spec: {containers: [{name: a}, null]}",
      problem: "spec.containers[1] is null, expected a mapping",
    },
    {
      part: "a container's name",
      text: "spec: {containers: [{name: 3}]}",
      problem: "spec.containers[0].name is the number 3, expected a string",
    },
  ])("contains the first invalid field of a Pod: $part", async ({ text, problem }) => {
    const { status, err } = await inject(`apiVersion: v1\nkind: Pod\n${text}\n`);
    expect(status).toBe(0);
    expect(err).toContain(problem);
  });

  test("control characters of a name are replaced in reports", async () => {
    const text =
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: "a\\e[31m\\u202eb", namespace: "x\\ny", annotations: {lastcall.dev/mode: a}}\n' +
      TEMPLATE;
    for (const command of ["inject", "explain", "uninject"]) {
      const { out, err } = await lastcall([command], { "-": text });
      const output = command === "explain" ? out + err : err;
      expect(output).toContain("Deployment x?y/a?[31m?b");
      expect(output).not.toContain("\u001b");
      expect(output).not.toContain("\u202e");
    }
  });
});

test("inject reports a problem for exactly the Pods that the injector rejects", () => {
  const invalidValue = fc.constantFrom<unknown>(null, undefined, [], {}, "x", 3, -1, 1.5, "web", "A");
  const container = fc.oneof(
    invalidValue,
    fc.record(
      {
        name: invalidValue,
        lifecycle: invalidValue,
        livenessProbe: invalidValue,
        startupProbe: invalidValue,
        resources: invalidValue,
      },
      { requiredKeys: [] },
    ),
    fc.constant({ name: "web", lifecycle: { preStop: 3 } }),
    fc.constant({ name: "side" }),
  );
  const list = fc.oneof(invalidValue, fc.array(container, { maxLength: 3 }));
  const spec = fc.record(
    { containers: list, initContainers: list, terminationGracePeriodSeconds: invalidValue },
    { requiredKeys: [] },
  );
  const metadata = fc.record({ annotations: invalidValue, labels: invalidValue }, { requiredKeys: [] });
  const pod = fc.record(
    { metadata: fc.oneof(invalidValue, metadata), spec: fc.oneof(invalidValue, spec) },
    { requiredKeys: [] },
  );
  const acceptsSamePods = fc.property(
    pod,
    (candidate) => (podProblem(candidate) === undefined) === isWellFormed(candidate),
  );
  const propertyRun = fc.check(acceptsSamePods, { numRuns: 2_000 });
  expect(propertyRun.failed, JSON.stringify(propertyRun.counterexample)).toBe(false);
});
