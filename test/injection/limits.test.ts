/** Tests the limits of one admission, and the problems that report exceeded limits. */
import { expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../../src/contract/drain-settings.ts";
import { formatServeFlags } from "../../src/contract/serve-flags.ts";
import { reviewText, warningsOf } from "../../src/injection/review.ts";
import { inject, injectedPodOf, problemCodesOf } from "./injector-inputs.ts";

/** Linux's limit for one argument or environment variable, including the final zero byte. */
const KERNEL_LIMIT_BYTES = 131_072;

const APP = { name: "app", image: "app:1" };

function createContainers(count: number, part: object = {}): object[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `${"n".repeat(58)}-${String(at).padStart(4, "0")}`,
    image: "x",
    ...part,
  }));
}

type Manager = { readonly args: readonly string[]; readonly env: readonly { readonly value?: string }[] };

function managerOf(pod: object): Manager {
  const [manager] = (pod as { spec: { initContainers: Manager[] } }).spec.initContainers;
  if (manager === undefined) throw new Error("no manager");
  return manager;
}

function longestTextBytes({ args, env }: Manager): number {
  return Math.max(...[...args, ...env.map((entry) => entry.value ?? "")].map((text) => Buffer.byteLength(text)));
}

test("a Pod of 1 000 containers gets a manager whose arguments Linux accepts, even with the largest injection record", () => {
  const probe = { httpGet: { port: 65_535 }, periodSeconds: 999_999, terminationGracePeriodSeconds: null };
  const probes = { livenessProbe: probe, readinessProbe: { ...probe }, startupProbe: probe };
  for (const lifecycle of [null, {}, { preStop: null }, { preStop: { exec: { command: ["x"] } } }]) {
    const pod = { spec: { containers: [...createContainers(999, { lifecycle, ...probes }), APP] } };
    expect(longestTextBytes(managerOf(injectedPodOf(pod)))).toBeLessThan(KERNEL_LIMIT_BYTES);
  }
  const annotations = {
    "lastcall.dev/drain-ports": Array.from({ length: 20_000 }, (_, at) => 65_535 - at).join(),
    "lastcall.dev/ignore-ports": Array.from({ length: 20_000 }, (_, at) => 45_535 - at).join(),
  };
  const podWithLists = injectedPodOf({ metadata: { annotations }, spec: { containers: [APP] } });
  expect(managerOf(podWithLists).args).toContain(`--drain-ports=${annotations["lastcall.dev/drain-ports"]}`);
  expect(longestTextBytes(managerOf(podWithLists))).toBeLessThan(KERNEL_LIMIT_BYTES);
});

test("a Pod with more than 1 000 containers, init containers included, is skipped with a reason", () => {
  const initContainers = createContainers(1);
  const pod = { metadata: { name: "web-0" }, spec: { initContainers, containers: [...createContainers(999), APP] } };
  const outcome = inject(pod);
  expect(outcome).toMatchObject({ kind: "unchanged", reason: "too_many_containers" });
  expect(warningsOf(outcome)).toEqual([
    "lastcall: not injected: the Pod has more than 1000 containers",
    "lastcall: pod web-0, spec: 1001 containers exceed the limit of 1000.",
  ]);
  // A missing opt-in is reported instead of any other reason.
  expect(inject(pod, { request: { optIn: "label" } })).toMatchObject({ reason: "not_enabled" });
});

test("a Pod's list of ports that exceeds the length limit of an argument is ignored, and the namespace's list is used", () => {
  const annotations = { "lastcall.dev/drain-ports": Array.from({ length: 30_000 }, (_, at) => at + 1).join() };
  const pod = { metadata: { name: "web-0", annotations }, spec: { containers: [APP] } };
  const namespaceAnnotations = { "lastcall.dev/drain-ports": "8080" };
  const outcome = inject(pod, { request: { namespaceAnnotations } });
  expect(outcome.explanation.problems).toEqual([
    {
      code: "list_too_long",
      where: "pod web-0, lastcall.dev/drain-ports",
      message: "Got 30000 entries, expected at most 20000.",
    },
  ]);
  expect(outcome.explanation.policy.drainPorts).toEqual([8_080]);
  expect(inject(pod, { config: { onInvalid: "deny" } })).toMatchObject({ kind: "refused" });
  expect(inject(pod, { config: { onInvalid: "skip" } })).toMatchObject({ reason: "invalid_value" });
});

test("of 36 000 unknown annotations, 20 are listed and the remaining annotations are counted", () => {
  const annotations = Object.fromEntries(Array.from({ length: 36_000 }, (_, at) => [`lastcall.dev/key-${at}`, "x"]));
  const { problems } = inject({ metadata: { name: "web-0", annotations }, spec: { containers: [APP] } }).explanation;
  expect(problems).toHaveLength(21);
  expect(problems.at(-1)).toEqual({
    code: "unknown_annotation",
    where: "pod web-0",
    message: "35980 more annotations with the prefix lastcall.dev/ are unknown.",
  });
});

test("a response has at most 50 problems and 16 warnings, with the number of omitted problems and warnings", () => {
  const annotations = { "lastcall.dev/containers": Array.from({ length: 1_000 }, (_, at) => `no-${at}`).join() };
  const outcome = inject({ metadata: { name: "web-0", annotations }, spec: { containers: [APP] } });
  expect(outcome.explanation.problems).toHaveLength(50);
  expect(outcome.explanation.problems.at(-1)).toMatchObject({
    code: "more_problems",
    message: "951 more problems are not shown.",
  });
  const warnings = warningsOf(outcome);
  expect(warnings).toHaveLength(16);
  expect(warnings.at(-1)).toBe("lastcall: 35 more warnings are not shown");
  // The API server's limit for all warnings of a request.
  expect(warnings.join("").length).toBeLessThanOrEqual(4_096);
});

test("a setting with 400 000 container names causes a short response", () => {
  const annotations = { "lastcall.dev/containers": Array.from({ length: 400_000 }, (_, at) => `n${at}`).join() };
  const outcome = inject({ metadata: { annotations }, spec: { containers: [APP] } });
  expect(problemCodesOf(outcome)).toEqual(["list_too_long"]);
  expect(reviewText("uid", outcome).length).toBeLessThan(10_000);
});

test("a Pod whose patch exceeds the API server's size limit is skipped", () => {
  const args = ["serve", ...formatServeFlags(DEFAULT_SETTINGS)];
  // If the manager moves away from the first position of a list, the patch replaces all later entries.
  const createPodWithLongName = (letters: number) => ({
    metadata: { annotations: { "lastcall.dev/mode": "native" } },
    spec: {
      containers: [
        { name: "lastcall", image: "x", args },
        { ...APP, futureField: "é".repeat(letters) },
        { name: "b", image: "x" },
      ],
    },
  });
  const outcome = inject(createPodWithLongName(800_000));
  expect(outcome).toMatchObject({ kind: "unchanged", reason: "patch_too_large" });
  expect(warningsOf(outcome)).toEqual([
    expect.stringMatching(/^lastcall: not injected: /),
    expect.stringMatching(/: The patch that injects the Pod has [0-9]{7} bytes, more than the limit of 1572864\.$/),
  ]);
  expect(inject(createPodWithLongName(700_000))).toMatchObject({ kind: "patched" });
});

test("a Pod whose annotations would exceed the API server's limit is skipped", () => {
  const createPodWithText = (characters: number) => {
    const annotations = { "example.org/a": "x".repeat(characters - "example.org/a".length) };
    return inject({ metadata: { annotations }, spec: { containers: [APP] } });
  };
  expect(createPodWithText(262_144)).toMatchObject({ kind: "patched" });
  expect(createPodWithText(262_145)).toMatchObject({ kind: "unchanged", reason: "invalid_pod" });
});

test("a forged injection record that is longer than Linux's argument limit is ignored", () => {
  const value = JSON.stringify({ grace: 45, preStop: { app: { exec: { command: ["x".repeat(140_000)] } } } });
  const env = [{ name: "LASTCALL_ORIGINAL", value }];
  const manager = { name: "lastcall", image: "x", restartPolicy: "Always", args: ["serve", "--port=17890"], env };
  const preStop = { httpGet: { path: `/${"t".repeat(32)}/prestop/app`, port: 17_890 } };
  const pod = { spec: { initContainers: [manager], containers: [{ ...APP, lifecycle: { preStop } }] } };
  expect(reviewText("uid", inject(pod)).length).toBeLessThan(10_000);
});
