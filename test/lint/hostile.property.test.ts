import fc from "fast-check";
import { expect, test } from "vitest";
import { parseManifest } from "../../src/cli/manifest/parse.ts";
import { podsIn } from "../../src/kubernetes/pod-template.ts";
import { lint } from "../../src/lint/lint.ts";
import { createManifestSet } from "../../src/lint/manifest-set.ts";
import { deployment, SERVICE } from "./manifests.ts";

/** Valid objects, in which the test replaces one value by an arbitrary value. */
const objects = [
  deployment({
    container: "lifecycle: {preStop: {exec: {command: [sh, -c, sleep 5]}}}, livenessProbe: {grpc: {port: 1}}",
  }),
  SERVICE,
  "{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {maxUnavailable: 0, selector: {matchExpressions: [{key: app, operator: In, values: [web]}]}}}",
  "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {annotations: {haproxy.org/timeout-server: 1m}}, spec: {rules: [{http: {paths: [{backend: {service: {name: web}}}]}}]}}",
  "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {minReplicas: 1, scaleTargetRef: {kind: Deployment, name: web}}}",
].map((text) => parseManifest(text).documents[0]?.value);

type Keys = readonly string[];

function pathsIn(value: unknown): readonly Keys[] {
  if (typeof value !== "object" || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, value]) => pathsIn(value).map((path) => [key, ...path]))];
}

function replacedAt(value: unknown, [key, ...rest]: Keys, replacement: unknown): unknown {
  if (key === undefined) return replacement;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (String(index) === key ? replacedAt(item, rest, replacement) : item));
  const object = value as Record<string, unknown>;
  return { ...object, [key]: replacedAt(object[key], rest, replacement) };
}

const places = objects.flatMap((object, objectIndex) => pathsIn(object).map((path) => ({ objectIndex, path })));

test.for(places)(
  "lint accepts any value at $path of object $objectIndex, and its findings have printable fields",
  ({ objectIndex, path }) => {
    fc.assert(
      fc.property(fc.jsonValue(), (replacement) => {
        const values = objects.map((value, index) =>
          index === objectIndex ? replacedAt(value, path, replacement) : value,
        );
        const documents = values.map((value, index) => ({
          file: "a.yaml",
          number: index + 1,
          value,
          pods: podsIn(value),
        }));
        for (const finding of lint(createManifestSet(documents, "default"))) {
          expect(finding.path.every((key) => typeof key === "string" || typeof key === "number")).toBe(true);
          expect(finding.message).not.toMatch(/undefined|NaN|\[object/);
        }
      }),
      { numRuns: 30 },
    );
  },
);
