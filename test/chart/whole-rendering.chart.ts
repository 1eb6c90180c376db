import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { VERSION } from "../../src/contract/version.ts";
import { CHART, helm, isHook, ofKind, render, renderText } from "./rendering.ts";
import { MATRIX, MATRIX_NAMES } from "./values-matrix.ts";

const CLUSTER_WIDE = [
  "ClusterRole",
  "ClusterRoleBinding",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
];

describe.for(MATRIX_NAMES)("with %s", (name) => {
  const values = MATRIX[name] ?? {};

  test("the chart renders the same bytes every time, for install and upgrade", () => {
    const { status, stdout } = renderText(values);
    expect(status).toBe(0);
    expect(renderText(values).stdout).toBe(stdout);
    expect(renderText(values, { args: ["--is-upgrade"] }).stdout).toBe(stdout);
  });

  test("the chart contains no private key, and no Secret has data", () => {
    expect(renderText(values).stdout).not.toMatch(/PRIVATE KEY|LS0tLS1CRUdJTiB(RUMg|UlNBI|)UFJJVkFURS/);
    for (const secret of ofKind(render(values), "Secret")) {
      expect([secret["data"], secret["stringData"]]).toEqual([undefined, undefined]);
    }
  });

  test("every object is in the release's namespace, except permissions for the self-test and the proof", () => {
    const elsewhere = render(values, { namespace: "of-its-own" })
      .filter(({ kind }) => !CLUSTER_WIDE.includes(kind))
      .filter(({ metadata }) => metadata.namespace !== "of-its-own");
    const rights = ["Role", "RoleBinding"];
    expect(elsewhere.filter(isHook).map(({ kind }) => kind)).toEqual(values["selfTest"] === undefined ? rights : []);
    const proof = elsewhere.filter((manifest) => !isHook(manifest)).map(({ kind }) => kind);
    expect(proof).toEqual(values["failurePolicy"] === "Fail" ? rights : []);
  });

  test("no two objects of the chart have the same name", () => {
    const names = render(values).map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`);
    expect(names).toEqual([...new Set(names)]);
  });

  test("the chart passes Helm's linter", () => {
    const { status, stdout } = helm(["lint", "--strict", CHART, "--namespace", "lastcall", "-f", "-"], values);
    expect(stdout).toContain("0 chart(s) failed");
    expect(status).toBe(0);
  });
});

test("version and appVersion of the chart equal the program's version", () => {
  const chart = parse(readFileSync(join(CHART, "Chart.yaml"), "utf8")) as Record<string, string>;
  expect([chart["version"], chart["appVersion"]]).toEqual([VERSION, VERSION]);
});

test("Kubernetes before 1.29 is rejected, and admission policies are omitted before 1.30", () => {
  const refused = renderText({}, { kubernetes: "1.28.9" });
  expect(refused.status).not.toBe(0);
  expect(refused.stderr).toContain(">=1.29.0-0");
  const kindsAt = (kubernetes: string) => render({}, { kubernetes }).map(({ kind }) => kind);
  expect(kindsAt("1.29.4")).not.toContain("ValidatingAdmissionPolicy");
  expect(kindsAt("1.30.0-eks-1")).toContain("ValidatingAdmissionPolicy");
});

test("every value of the schema has a default in values.yaml", () => {
  const values: unknown = parse(readFileSync(join(CHART, "values.yaml"), "utf8"));
  const schema: unknown = JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8"));
  expect(pathsOfSchema(schema).filter((path) => path !== "global" && !hasPath(values, path))).toEqual([]);
});

type Node = { readonly properties?: Readonly<Record<string, Node>> };

function pathsOfSchema(schema: unknown, before = ""): readonly string[] {
  const properties = (schema as Node).properties ?? {};
  return Object.entries(properties).flatMap(([key, inner]) => {
    const path = before === "" ? key : `${before}.${key}`;
    return [path, ...pathsOfSchema(inner, path)];
  });
}

function hasPath(value: unknown, path: string): boolean {
  let inner: unknown = value;
  for (const key of path.split(".")) {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, key)) return false;
    inner = (inner as Record<string, unknown>)[key];
  }
  return true;
}
