import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { VERSION } from "../../src/contract/version.ts";
import { CHART, helm, isHook, ofKind, render, renderText } from "./rendering.ts";
import { MATRIX, MATRIX_NAMES } from "./values-matrix.ts";

const CLUSTER_SCOPED_KINDS = [
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

  test("the chart does not contain a private key, and no Secret has data", () => {
    expect(renderText(values).stdout).not.toMatch(/PRIVATE KEY|LS0tLS1CRUdJTiB(RUMg|UlNBI|)UFJJVkFURS/);
    for (const secret of ofKind(render(values), "Secret")) {
      expect([secret["data"], secret["stringData"]]).toEqual([undefined, undefined]);
    }
  });

  test("every object is in the release's namespace, except permissions for the self-test and for the dry run that proves injection", () => {
    const inOtherNamespaces = render(values, { namespace: "other" })
      .filter(({ kind }) => !CLUSTER_SCOPED_KINDS.includes(kind))
      .filter(({ metadata }) => metadata.namespace !== "other");
    const permissionKinds = ["Role", "RoleBinding"];
    expect(inOtherNamespaces.filter(isHook).map(({ kind }) => kind)).toEqual(
      values["selfTest"] === undefined ? permissionKinds : [],
    );
    const proofKinds = inOtherNamespaces.filter((manifest) => !isHook(manifest)).map(({ kind }) => kind);
    expect(proofKinds).toEqual(values["failurePolicy"] === "Fail" ? permissionKinds : []);
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

test("Kubernetes before 1.29 is rejected, and the chart does not have a ValidatingAdmissionPolicy before 1.30", () => {
  const result = renderText({}, { kubernetes: "1.28.9" });
  expect(result.status).not.toBe(0);
  expect(result.stderr).toContain(">=1.29.0-0");
  const kindsAt = (kubernetes: string) => render({}, { kubernetes }).map(({ kind }) => kind);
  expect(kindsAt("1.29.4")).not.toContain("ValidatingAdmissionPolicy");
  expect(kindsAt("1.30.0-eks-1")).toContain("ValidatingAdmissionPolicy");
});

test("every value of the schema has a default in values.yaml", () => {
  const values: unknown = parse(readFileSync(join(CHART, "values.yaml"), "utf8"));
  const schema: unknown = JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8"));
  expect(pathsOfSchema(schema).filter((path) => path !== "global" && !hasPath(values, path))).toEqual([]);
});

type SchemaNode = { readonly properties?: Readonly<Record<string, SchemaNode>> };

function pathsOfSchema(schema: unknown, parentPath = ""): readonly string[] {
  const properties = (schema as SchemaNode).properties ?? {};
  return Object.entries(properties).flatMap(([key, inner]) => {
    const path = parentPath === "" ? key : `${parentPath}.${key}`;
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
