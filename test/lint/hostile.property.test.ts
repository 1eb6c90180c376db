import fc from "fast-check";
import { expect, test } from "vitest";
import { parseManifest } from "../../src/cli/manifest/parse.ts";
import { podsIn } from "../../src/kubernetes/pod-template.ts";
import { lint } from "../../src/lint/lint.ts";
import { manifestSet } from "../../src/lint/manifest-set.ts";
import { deployment, SERVICE } from "./manifests.ts";

/** Valid objects with one part replaced by an arbitrary value. */
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
  return [[], ...Object.entries(value).flatMap(([key, below]) => pathsIn(below).map((path) => [key, ...path]))];
}

function damaged(value: unknown, [key, ...rest]: Keys, damage: unknown): unknown {
  if (key === undefined) return damage;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (String(index) === key ? damaged(item, rest, damage) : item));
  const object = value as Record<string, unknown>;
  return { ...object, [key]: damaged(object[key], rest, damage) };
}

const damages = objects.flatMap((object, which) => pathsIn(object).map((path) => ({ which, path })));

test.for(damages)(
  "lint accepts any value at $path of object $which, and its findings have printable fields",
  ({ which, path }) => {
    fc.assert(
      fc.property(fc.jsonValue(), (damage) => {
        const values = objects.map((value, index) => (index === which ? damaged(value, path, damage) : value));
        const documents = values.map((value, index) => ({
          file: "a.yaml",
          number: index + 1,
          value,
          pods: podsIn(value),
        }));
        for (const finding of lint(manifestSet(documents, "default"))) {
          expect(finding.path.every((key) => typeof key === "string" || typeof key === "number")).toBe(true);
          expect(finding.message).not.toMatch(/undefined|NaN|\[object/);
        }
      }),
      { numRuns: 30 },
    );
  },
);
