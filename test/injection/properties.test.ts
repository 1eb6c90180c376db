/** Tests properties of an injection that apply to every Pod. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import jsonPatch, { type Operation } from "fast-json-patch";
import { expect, test } from "vitest";
import { parseServeFlags } from "../../src/contract/serve-flags.ts";
import type { Outcome } from "../../src/injection/outcome.ts";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { anyText } from "../any-text.ts";
import { arbitraryPod } from "./arbitrary-pod.ts";
import { type InjectorInputs, inject } from "./injector-inputs.ts";
import { oracleSetAmounts, qosByOracle } from "./qos-oracle.ts";

const RUNS = { numRuns: 600 };
const TIME_LIMIT = 300_000;

const arbitraryInputs: fc.Arbitrary<InjectorInputs> = fc
  .constantFrom("1.28", "1.29", "v1.31.2-eks-1", "1.32", "1.36+", "unknown")
  .chain((apiServerVersion) =>
    fc.constantFrom("v1.28.9", "v1.31.0", "v1.36.2", undefined).map((lowestKubeletVersion) => ({
      facts: { apiServerVersion, lowestKubeletVersion },
    })),
  );

type PatchedOutcome = Extract<Outcome, { kind: "patched" }>;

/** Runs `check` for every patched Pod, and requires that more than a third of the Pods are patched. */
function checkPatchedPods(check: (pod: object, outcome: PatchedOutcome, inputs: InjectorInputs) => void): void {
  let patchedCount = 0;
  fc.assert(
    fc.property(arbitraryPod, arbitraryInputs, (pod, inputs) => {
      const outcome = inject(pod, inputs);
      if (outcome.kind !== "patched") return;
      patchedCount += 1;
      check(pod, outcome, inputs);
    }),
    RUNS,
  );
  expect(patchedCount).toBeGreaterThan(RUNS.numRuns / 3);
}

function freezeDeeply<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freezeDeeply(part);
  }
  return value;
}

function specOf(pod: object): Record<string, unknown> {
  return (pod as { readonly spec: Record<string, unknown> }).spec;
}

function graceOf(pod: object): number {
  return (specOf(pod)["terminationGracePeriodSeconds"] as number | null | undefined) ?? 30;
}

type Container = {
  readonly name: string;
  readonly args?: readonly string[];
  readonly resources?: { readonly requests?: Record<string, string>; readonly limits?: Record<string, string> };
};

function managerIn(pod: object): Container | undefined {
  const { containers, initContainers } = specOf(pod) as Record<string, readonly Container[] | null | undefined>;
  return [...(initContainers ?? []), ...(containers ?? [])].find((container) => container.name === "lastcall");
}

test("for any Pod, a second injection by any replica does not change the Pod", { timeout: TIME_LIMIT }, () => {
  checkPatchedPods((_pod, first, given) => {
    const second = inject(first.pod, { ...given, token: "f".repeat(32) });
    expect(second).toMatchObject({ kind: "unchanged", reason: "up_to_date" });
  });
});

test("for any Pod, an uninjection restores the original", { timeout: TIME_LIMIT }, () => {
  checkPatchedPods((pod, { pod: changed, mode }) => {
    const uninjection = uninjectPod(changed);
    expect(uninjection, mode).toStrictEqual({ kind: "uninjected", pod });
  });
});

test("for any Pod, the patch transforms the received object into the injected Pod", { timeout: TIME_LIMIT }, () => {
  checkPatchedPods((pod, { patch, pod: changed }) => {
    const operations = JSON.parse(JSON.stringify(patch)) as Operation[];
    const received = JSON.parse(JSON.stringify(pod)) as object;
    expect(jsonPatch.applyPatch(received, operations, true).newDocument).toStrictEqual(changed);
  });
});

test("for any Pod, an injection does not change the QoS class", { timeout: TIME_LIMIT }, () => {
  const seenClasses = new Set<string>();
  checkPatchedPods((pod, { pod: changed }) => {
    const before = qosByOracle(pod);
    seenClasses.add(before);
    expect(qosByOracle(changed)).toBe(before);
  });
  expect(seenClasses.size).toBe(3);
});

test("the manager sets each request and limit that every container of the Pod sets, because a ResourceQuota may require it", {
  timeout: TIME_LIMIT,
}, () => {
  const seenAmounts = new Set<number>();
  checkPatchedPods((pod, { pod: changed }) => {
    if (managerIn(changed) === undefined || specOf(pod)["resources"] !== undefined) return;
    const [before, after] = [oracleSetAmounts(pod), oracleSetAmounts(changed)];
    for (const at of before.keys()) {
      if (before[at] !== true) continue;
      seenAmounts.add(at);
      expect([at, after[at]]).toEqual([at, true]);
    }
  });
  expect(seenAmounts.size).toBe(4);
});

test("the injected grace period is never lowered, exceeds the drain timeout and fits in 32 bits", {
  timeout: TIME_LIMIT,
}, () => {
  checkPatchedPods((pod, { pod: changed }) => {
    const grace = graceOf(changed);
    expect(grace).toBeGreaterThanOrEqual(graceOf(pod));
    expect(grace).toBeLessThanOrEqual(2_147_483_647);
    const manager = managerIn(changed);
    if (manager === undefined) return;
    const { settings, problems } = parseServeFlags(manager.args?.slice(1) ?? []);
    expect(problems).toEqual([]);
    expect(grace * 1_000).toBeGreaterThan(settings.drainTimeoutMs);
    if (grace < 2_147_483_647) {
      const spansMs = settings.drainDelayMs + settings.deregistrationDelayMs + settings.drainTimeoutMs;
      expect(grace).toBeGreaterThanOrEqual(graceOf(pod) + spansMs / 1_000 + 5);
    }
  });
});

test("for any Pod, every problem is one printable line with at most 200 characters", { timeout: TIME_LIMIT }, () => {
  const hostileText = fc.oneof(anyText(), fc.constant(`\u001b[31m\n${"9,".repeat(150)}`));
  const name = fc.constantFrom("drain-ports", "ignore-ports", "mode", "containers", "driver-url", "profile", "inject");
  const ports = Array.from({ length: 2_000 }, (_, at) => at + 1).join(",");
  const codes = new Set<string>();
  fc.assert(
    fc.property(arbitraryPod, name, hostileText, (pod, key, text) => {
      const annotations = { "lastcall.dev/drain-ports": ports, "lastcall.dev/ignore-ports": ports };
      const metadata = {
        name: text,
        annotations: { ...annotations, [`lastcall.dev/${key}`]: text, [`lastcall.dev/${text}`]: "x" },
      };
      for (const given of [pod, { ...pod, metadata }]) {
        for (const { code, where, message } of inject(given).explanation.problems) {
          codes.add(code);
          expect(message).toMatch(/^[\x20-\x7e–…]{1,200}$/);
          expect(where).toMatch(/^[\x20-\x7e–…]{1,400}$/);
        }
      }
    }),
    { numRuns: 400 },
  );
  expect(codes.size).toBeGreaterThan(8);
});

test("an injection never modifies its input object", { timeout: TIME_LIMIT }, () => {
  checkPatchedPods((pod, _outcome, given) => {
    const frozenPod = freezeDeeply(structuredClone(pod));
    expect(() => inject(frozenPod, given)).not.toThrow();
  });
});

test("an injection does not change the order of containers, or fields that it does not set", {
  timeout: TIME_LIMIT,
}, () => {
  checkPatchedPods((pod, { pod: changed }) => {
    for (const list of ["containers", "initContainers"]) {
      const before = (specOf(pod)[list] ?? []) as readonly Container[];
      const after = ((specOf(changed)[list] ?? []) as readonly Container[]).filter((c) => c.name !== "lastcall");
      expect(after.map(withoutInjectedFields)).toStrictEqual(before.map(withoutInjectedFields));
    }
    const { metadata: _m, spec: _s, ...rest } = pod as Record<string, unknown>;
    expect(changed).toMatchObject(rest);
  });
});

function withoutInjectedFields(container: Container): object {
  const fields = container as Record<string, unknown>;
  const { lifecycle: _l, livenessProbe: _p, startupProbe: _s, env, volumeMounts, ...rest } = fields;
  return { ...rest, env: withoutLibrary(env), volumeMounts: withoutLibrary(volumeMounts) };
}

/** Removes the preload library's entries from a list. Empty, null and absent lists count as equal. */
function withoutLibrary(list: unknown): readonly unknown[] {
  const texts = ((list ?? []) as readonly object[]).map((entry) => JSON.stringify(entry));
  return texts
    .map((text) => text.replace(":/lastcall-preload/lastcall-preload.so", ""))
    .filter((text) => !text.includes('"/lastcall-preload'));
}

test("the manager's resources are valid together with pod-level resources", {
  timeout: TIME_LIMIT,
}, () => {
  let checkedPods = 0;
  checkPatchedPods((pod, { pod: changed }) => {
    const limits = (specOf(pod)["resources"] as { limits?: { memory?: string } } | undefined)?.limits;
    if (limits?.memory !== "8Mi") return;
    expect(managerIn(changed)?.resources?.limits?.["memory"]).toBeUndefined();
    checkedPods += 1;
  });
  expect(checkedPods).toBeGreaterThan(0);
});

const hostileKeys = fc.constantFrom(
  ...["metadata", "spec", "containers", "initContainers", "name", "annotations", "labels", "lifecycle", "preStop"],
  ...["livenessProbe", "resources", "args", "env", "ports", "lastcall", "__proto__", "constructor", "toJSON"],
  ...["terminationGracePeriodSeconds", "restartPolicy", "httpGet", "affinity", "nodeSelectorTerms"],
);

const hostileJson = fc.letrec((ref) => ({
  value: fc.oneof(
    { maxDepth: 7, withCrossShrink: true },
    fc.constantFrom<unknown>(null, 0, -1, 1.5, 1e300, "", "lastcall", "serve", "--port=x", true, "\u0000", "17890"),
    fc.array(ref("value"), { maxLength: 3 }),
    // With Object.fromEntries, as with JSON.parse, `__proto__` is an own key.
    fc
      .array(fc.tuple(hostileKeys, ref("value")), { maxLength: 5 })
      .map((entries) => Object.fromEntries(entries) as unknown),
  ),
})).value;

test("for any JSON, the injection does not throw and its patch can be applied", { timeout: TIME_LIMIT }, () => {
  fc.assert(
    fc.property(hostileJson, hostileJson, hostileJson, (metadata, spec, container) => {
      const containers = [container, { name: "app" }];
      for (const pod of [spec, { metadata, spec }, { metadata, spec: { ...toObject(spec), containers } }]) {
        const received = JSON.parse(JSON.stringify(pod ?? null)) as object;
        const outcome = inject(received);
        uninjectPod(received);
        if (outcome.kind !== "patched") continue;
        const operations = JSON.parse(JSON.stringify(outcome.patch)) as Operation[];
        const patchedPod = jsonPatch.applyPatch(JSON.parse(JSON.stringify(pod)), operations, true).newDocument;
        // Vitest's equality would read `constructor`, which is an ordinary key in these objects.
        expect(isDeepStrictEqual(patchedPod, outcome.pod)).toBe(true);
        expect(isDeepStrictEqual(uninjectPod(outcome.pod), { kind: "uninjected", pod: received })).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

function toObject(value: unknown): object {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
