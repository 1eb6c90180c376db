import { describe, expect, test } from "vitest";
import { RULES } from "../../../src/lint/lint.ts";
import { lastcall } from "../run-lastcall.ts";

const SERVICE = `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  selector:
    app: web
  ports:
    - port: 80
      targetPort: 8080
`;
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  template:
    metadata:
      labels:
        app: web
    spec:
      terminationGracePeriodSeconds: 10
      containers:
        - name: app
          image: shop/web:1
          readinessProbe: {grpc: {port: 8080}}
          lifecycle:
            preStop:
              sleep: {seconds: 10}
`;
const FILES = { "k8s/service.yaml": SERVICE, "k8s/web app.yaml": `# Two documents.\n---\n${DEPLOYMENT}` };

const lintFiles = (...flags: readonly string[]) => lastcall(["lint", "-f", "k8s", ...flags], FILES);

describe("the exit status of lint", () => {
  test.for([
    { title: "is 0 without findings", input: SERVICE, flags: [], status: 0 },
    { title: "is 1 with a finding", input: DEPLOYMENT, flags: [], status: 1 },
    { title: "is 2 for a document that cannot be read", input: `${DEPLOYMENT}---\na: b: c\n`, flags: [], status: 2 },
    { title: "is 2 for an invalid flag", input: SERVICE, flags: ["--format", "xml"], status: 2 },
  ])("$title", async ({ input, flags, status }) => {
    expect((await lastcall(["lint", ...flags], { "-": input })).status).toBe(status);
  });

  test("is 2 for an unreadable document, and findings of the other documents are printed", async () => {
    const { out, err } = await lastcall(["lint"], { "-": `${DEPLOYMENT}---\na: b: c\n` });
    expect(out).toContain("[sleep-exceeds-grace]");
    expect(err).toContain("error: standard input, document 2, line 21");
  });
});

describe("lint without findings", () => {
  test("prints that there are no findings", async () => {
    expect((await lastcall(["lint"], { "-": SERVICE })).out).toBe("no findings\n");
  });

  test("does not print that there are no findings after unreadable documents", async () => {
    expect((await lastcall(["lint"], { "-": "a: b: c\n" })).out).toBe("");
  });

  test("reports input without objects", async () => {
    const { err, status } = await lastcall(["lint", "-f", "empty.yaml"], { "empty.yaml": "# nothing\n" });
    expect({ err, status }).toEqual({ err: "nothing to do: no objects found in empty.yaml\n", status: 0 });
  });
});

test("a finding in the text output has its place, level, rule, field, value and remedy, and the numbers of findings follow", async () => {
  expect((await lintFiles()).out).toBe(
    [
      "k8s/web app.yaml:20:13: error: Container app sleeps 10 s in its preStop hook, and the grace period is 10 s. [sleep-exceeds-grace]",
      '  Deployment shop/web, spec.template.spec.containers[0].lifecycle.preStop ({"sleep":{"seconds":10}})',
      "  Set terminationGracePeriodSeconds to the hook's duration plus the time the app needs to finish its requests.",
      "1 finding: error 1, warning 0, note 0",
      "",
    ].join("\n"),
  );
});

test("a finding about a missing field has the place of the nearest ancestor", async () => {
  const files = { "-": `${SERVICE}---\n${DEPLOYMENT.replace(/ {10}readinessProbe.*\n/, "")}` };
  const { findings } = JSON.parse((await lastcall(["lint", "--json"], files)).out);
  expect(
    findings.map(({ rule, line, value }: { rule: string; line: number; value: unknown }) => [rule, line, value]),
  ).toEqual([
    ["no-readiness", 26, null],
    ["sleep-exceeds-grace", 29, { sleep: { seconds: 10 } }],
  ]);
});

test("a finding about a field from a YAML alias has the place of the alias", async () => {
  const text = DEPLOYMENT.replace("metadata:", "x-hook: &hook {preStop: {sleep: {seconds: 10}}}\nmetadata:").replace(
    /lifecycle:\n(.*\n){2}/,
    "lifecycle: *hook\n",
  );
  const { findings } = JSON.parse((await lastcall(["lint", "--json"], { "-": text })).out);
  expect(findings[0].line).toBe(text.split("\n").findIndex((line) => line.includes("*hook")) + 1);
});

test("lint escapes delimiters in annotations for GitHub", async () => {
  const { out } = await lastcall(["lint", "-f", "a,b:c%.yaml", "--format", "github"], { "a,b:c%.yaml": DEPLOYMENT });
  expect(out).toMatch(/^::error file=a%2Cb%3Ac%25\.yaml,line=18,col=13,title=lastcall lint%3A sleep-exceeds-grace::/);
  expect(out.trimEnd()).not.toContain("\n");
});

describe("the SARIF output of lint", () => {
  test("equals the golden file, except the list of rules", async () => {
    const log = JSON.parse((await lintFiles("--format", "sarif")).out);
    const { rules, version, ...driver } = log.runs[0].tool.driver;
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect(rules).toHaveLength(RULES.length);
    const logWithoutRules = { ...log, runs: [{ ...log.runs[0], tool: { driver } }] };
    await expect(`${JSON.stringify(logWithoutRules, null, 2)}\n`).toMatchFileSnapshot("lint.sarif.json");
  });

  test("has the fields that version 2.1.0 and code scanning require", async () => {
    const { $schema, version, runs } = JSON.parse((await lintFiles("--format", "sarif")).out);
    expect({ $schema, version }).toEqual({ $schema: expect.stringContaining("sarif-2.1.0"), version: "2.1.0" });
    for (const { tool, results } of runs) {
      for (const rule of tool.driver.rules)
        expect(rule).toMatchObject({
          id: expect.any(String),
          shortDescription: { text: expect.any(String) },
          fullDescription: { text: expect.any(String) },
          help: { text: expect.any(String) },
        });
      for (const { ruleId, ruleIndex, level, message, locations, partialFingerprints } of results) {
        expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
        expect(["error", "warning", "note"]).toContain(level);
        expect(message.text).not.toBe("");
        const [{ physicalLocation }] = locations;
        expect(() => new URL(physicalLocation.artifactLocation.uri, "file:///")).not.toThrow();
        expect(physicalLocation.artifactLocation.uri).not.toContain(" ");
        expect(physicalLocation.region.startLine).toBeGreaterThan(0);
        expect(Object.values(partialFingerprints)).toHaveLength(1);
      }
    }
  });

  test("reports that a document could not be read", async () => {
    const { runs } = JSON.parse((await lastcall(["lint", "--format", "sarif"], { "-": "a: b: c\n" })).out);
    expect(runs[0].invocations[0]).toMatchObject({
      executionSuccessful: false,
      toolExecutionNotifications: [{ level: "error" }],
    });
  });
});
