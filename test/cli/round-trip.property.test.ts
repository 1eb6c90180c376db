import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { podsIn } from "../../src/kubernetes/pod-template.ts";
import { writeYaml, type YamlStyle } from "./random-yaml.ts";
import { lastcall } from "./run-lastcall.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
const text = fc.oneof(name, fc.string({ maxLength: 12, unit: "grapheme-ascii" }));
const emptyParent = fc.constantFrom({}, null);

const sleep = fc.oneof(
  fc.record({ sleep: fc.record({ seconds: fc.integer({ min: 1, max: 40 }) }) }),
  fc.record({ exec: fc.record({ command: fc.constantFrom(["sleep", "7"], ["sh", "-c", "sleep 7"]) }) }),
);

const leaveHook = fc.record({
  httpGet: fc.record(
    {
      scheme: fc.constant("HTTP"),
      path: fc.constantFrom("/leave", "/leave?now"),
      httpHeaders: fc.constant([{ name: "X-Why", value: "end" }]),
      port: fc.constantFrom(8080, "http"),
      host: fc.constant("127.0.0.1"),
    },
    { requiredKeys: ["port"] },
  ),
});

const probe = fc.record({ httpGet: fc.record({ path: fc.constant("/"), port: fc.constant(8080) }) });

const container = fc.record(
  {
    image: name,
    args: fc.array(text, { maxLength: 3 }),
    lifecycle: fc.oneof(emptyParent, fc.record({ preStop: fc.oneof(sleep, leaveHook) })),
    livenessProbe: probe,
    ports: fc.array(fc.record({ containerPort: fc.integer({ min: 1, max: 65_535 }) }), { maxLength: 2 }),
  },
  { requiredKeys: ["image"] },
);

const podBody = fc.record(
  {
    metadata: fc.oneof(
      emptyParent,
      fc.record({ annotations: fc.oneof(emptyParent, fc.dictionary(name, text, { maxKeys: 3 })) }),
    ),
    spec: fc.record(
      {
        terminationGracePeriodSeconds: fc.integer({ min: 1, max: 90 }),
        initContainers: fc.constantFrom([], null, [{ name: "setup", image: "b" }]),
        containers: fc
          .array(container, { minLength: 1, maxLength: 3 })
          .map((containers) => containers.map((container, at) => ({ name: `app${at}`, ...container }))),
        volumes: fc.constantFrom([], [{ name: "v", emptyDir: {} }]),
      },
      { requiredKeys: ["containers"] },
    ),
  },
  { requiredKeys: ["spec"] },
);

const workload = fc.oneof(
  podBody.map((body) => ({ apiVersion: "v1", kind: "Pod", ...body })),
  podBody.map((template) => ({ kind: "Deployment", apiVersion: "apps/v1", spec: { replicas: 2, template } })),
  fc.array(podBody, { minLength: 1, maxLength: 2 }).map((bodies) => ({
    kind: "List",
    apiVersion: "v1",
    items: bodies.map((body) => ({ apiVersion: "v1", kind: "Pod", ...body })),
  })),
);

const yamlStyle: fc.Arbitrary<YamlStyle> = fc.record({
  step: fc.integer({ min: 1, max: 8 }),
  hasIndentedDashes: fc.boolean(),
  eol: fc.constantFrom("\n", "\r\n"),
  hasFinalEol: fc.boolean(),
  choices: fc.array(fc.nat(99), { minLength: 20, maxLength: 120 }),
});

const manifest = fc.oneof(
  fc.tuple(workload, yamlStyle).map(([value, style]) => writeYaml(value, style)),
  fc
    .tuple(workload, fc.constantFrom(undefined, 1, 2, 4, "\t"), fc.constantFrom("", "\n"))
    .map(([value, step, end]) => JSON.stringify(value, null, step) + end),
);

const flags = fc.constantFrom(
  [],
  ["--mode", "sleep"],
  ["--kube-version", "1.28"],
  ["--prestop", "chain"],
  ["--prestop", "keep"],
);

test("inject changes only the Pods of any manifest, and uninject restores every byte", {
  timeout: 400_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(manifest, flags, async (source, injectFlags) => {
      const injectedOnce = await lastcall(["inject", ...injectFlags], { "-": source });
      expect(injectedOnce.err).not.toContain("error:");
      const injectedTwice = await lastcall(["inject", ...injectFlags], { "-": injectedOnce.out });
      expect(injectedTwice.out).toBe(injectedOnce.out);
      const restored = await lastcall(["uninject"], { "-": injectedOnce.out });
      expect(restored.out).toBe(source);
    }),
    { numRuns: 120 },
  );
});

test("a manifest and its JSON are injected to the same Pods", { timeout: 400_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(workload, yamlStyle, async (value, style) => {
      const yaml = await lastcall(["inject", "--token-seed", "s"], { "-": writeYaml(value, style) });
      const json = await lastcall(["inject", "--token-seed", "s"], { "-": JSON.stringify(value) });
      expect(podsIn(parse(yaml.out))).toEqual(podsIn(JSON.parse(json.out)));
    }),
    { numRuns: 40 },
  );
});
