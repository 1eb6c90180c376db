/** Injects each golden Pod and compares patch and report. `npx vitest run test/golden -u` updates the golden files. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import jsonPatch, { type Operation } from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { injectPod } from "../../src/injection/inject.ts";
import { type Outcome, SKIP_REASONS } from "../../src/injection/outcome.ts";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { type GoldenCase, listGoldenNames, readGoldenCase } from "./corpus.ts";
import { readablePatch } from "./readable-patch.ts";

function inject(golden: GoldenCase, pod: object = golden.request.pod, token: string = golden.token): Outcome {
  return injectPod({ ...golden.request, pod }, golden.config, golden.facts, { newToken: () => token });
}

function resultingPodOf(golden: GoldenCase, outcome: Outcome): object {
  return outcome.kind === "patched" ? outcome.pod : golden.request.pod;
}

function gracePeriodOf(pod: object): string {
  const spec = (pod as { spec?: { terminationGracePeriodSeconds?: number | null } }).spec;
  return String(spec?.terminationGracePeriodSeconds ?? "unset");
}

function reportOf(golden: GoldenCase, outcome: Outcome): string {
  const lines = [`outcome: ${outcome.kind}`];
  if (outcome.kind === "unchanged") lines.push(`reason: ${outcome.reason}, ${SKIP_REASONS[outcome.reason]}`);
  if (outcome.kind === "refused") lines.push(`message: ${outcome.message}`);
  if (outcome.kind === "patched") {
    lines.push(`mode: ${outcome.mode}`);
    lines.push(`grace: ${gracePeriodOf(golden.request.pod)} -> ${gracePeriodOf(outcome.pod)}`);
  }
  lines.push(
    ...outcome.explanation.problems.map((problem) => `problem: ${problem.code} (${problem.where}) ${problem.message}`),
  );
  return `${lines.join("\n")}\n`;
}

describe.for(listGoldenNames())("the golden case %s", (name) => {
  const golden = readGoldenCase(name);
  const outcome = inject(golden);
  const after = resultingPodOf(golden, outcome);

  test("has the patch and the report of its golden files", async () => {
    await expect(reportOf(golden, outcome)).toMatchFileSnapshot(join(golden.folder, "report.txt"));
    if (outcome.kind !== "patched") return;
    await expect(readablePatch(outcome.patch)).toMatchFileSnapshot(join(golden.folder, "patch.yaml"));
  });

  test("has an injected Pod that equals the patched input, is not changed by a second injection, and can be uninjected", () => {
    if (outcome.kind !== "patched") {
      expect(inject(golden, after)).toEqual(outcome);
      return;
    }
    const received = JSON.parse(JSON.stringify(golden.request.pod)) as object;
    expect(jsonPatch.applyPatch(received, [...outcome.patch] as Operation[], true).newDocument).toEqual(after);
    expect(inject(golden, after, "e".repeat(32))).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
    const uninjection = uninjectPod(after);
    const before = uninjectPod(golden.request.pod);
    expect(uninjection).toEqual({
      kind: "uninjected",
      pod: before.kind === "uninjected" ? before.pod : golden.request.pod,
    });
  });

  test("does not add a command to a container of the user", () => {
    // An image without a shell cannot run a shell command.
    const before = JSON.stringify(golden.request.pod);
    for (const container of otherContainers(after)) {
      const exec = container.lifecycle?.preStop?.exec;
      if (exec !== undefined) expect(before).toContain(JSON.stringify(exec));
    }
  });
});

type Container = { name?: string; lifecycle?: { preStop?: { exec?: unknown } | null } | null };

function otherContainers(pod: object): readonly Container[] {
  const spec = (pod as { spec: { containers?: unknown; initContainers?: unknown } }).spec;
  return [spec.containers, spec.initContainers]
    .flatMap((list) => (Array.isArray(list) ? (list as Container[]) : []))
    .filter((container) => container.name !== "lastcall");
}

test("a golden case has a Pod, a report, a patch if the Pod is changed, and optional settings", () => {
  for (const name of listGoldenNames()) {
    const golden = readGoldenCase(name);
    const files = readdirSync(golden.folder).filter((file) => file !== "settings.yaml");
    const patch = inject(golden).kind === "patched" ? ["patch.yaml"] : [];
    expect(files.sort(), name).toEqual(["input.yaml", ...patch, "report.txt"]);
  }
});

/** Reasons that need Pods too large for golden files; `test/injection/limits.test.ts` covers these reasons. */
const REASONS_OF_LARGE_PODS: readonly string[] = ["patch_too_large", "too_many_containers"];

test("every reason to skip a Pod has a golden case", () => {
  const outcomes = listGoldenNames().map((name) => inject(readGoldenCase(name)));
  const reasons = new Set(outcomes.flatMap((outcome) => (outcome.kind === "unchanged" ? [outcome.reason] : [])));
  // The second injection of every case covers `up_to_date`.
  expect([...reasons, ...REASONS_OF_LARGE_PODS].sort()).toEqual(Object.keys(SKIP_REASONS).sort());
});
