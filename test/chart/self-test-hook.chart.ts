import { expect, test } from "vitest";
import { readOptions } from "../../src/webhook/self-test/main.ts";
import { at, isHook, listOf, render } from "./rendering.ts";
import { MATRIX, MATRIX_NAMES } from "./values-matrix.ts";

test("the Helm hooks of the self-test are deleted after success and failure", () => {
  const hooks = render().filter(isHook);
  expect(hooks.map(({ kind }) => kind).sort()).toEqual(["Pod", "Role", "RoleBinding", "ServiceAccount"]);
  for (const { metadata } of hooks) {
    expect(metadata.annotations).toMatchObject({
      "helm.sh/hook": "test",
      "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded,hook-failed",
    });
  }
});

test("the self-test's permissions are created before the Pod that needs them", () => {
  const weights = Object.fromEntries(
    render()
      .filter(isHook)
      .map(({ kind, metadata }) => [kind, Number(metadata.annotations?.["helm.sh/hook-weight"])]),
  );
  expect(weights).toEqual({ ServiceAccount: -3, Role: -2, RoleBinding: -1, Pod: 0 });
});

test("no Helm hook runs before an installation, even with failurePolicy Fail", () => {
  for (const { metadata } of render({ failurePolicy: "Fail" }).filter(isHook)) {
    expect(metadata.annotations?.["helm.sh/hook"]).toBe("test");
  }
});

test.for(MATRIX_NAMES.filter((name) => MATRIX[name]?.["selfTest"] === undefined))(
  "with %s, the self-test meets the restricted Pod Security Standard, and its flags are valid",
  (name) => {
    const pod = render(MATRIX[name]).find(({ kind }) => kind === "Pod");
    const [command, ...flags] = listOf<string>(pod, "spec", "containers", 0, "args");
    expect(command).toBe("self-test");
    expect(readOptions(flags).problems).toEqual([]);
    expect(readOptions(flags).settings.namespace).toBe("default");
    expect(at(pod, "spec", "securityContext", "runAsNonRoot")).toBe(true);
    expect(at(pod, "spec", "containers", 0, "securityContext", "capabilities")).toEqual({ drop: ["ALL"] });
  },
);
