/** Builds manifests for lint tests, and lists the rules of their findings. */
import { parseManifest } from "../../src/cli/manifest/parse.ts";
import { type Finding, lint } from "../../src/lint/lint.ts";
import { createManifestSet } from "../../src/lint/manifest-set.ts";
import type { Profiles } from "../../src/policy/resolve.ts";

export const findingsIn = (...texts: readonly string[]): readonly Finding[] => findings({}, texts);

/** Returns the rules of the findings with these profiles of a cluster configuration. */
export const idsWithProfiles = (profiles: Profiles, ...texts: readonly string[]): readonly string[] =>
  findings(profiles, texts).map(({ rule }) => rule.id);

function findings(profiles: Profiles, texts: readonly string[]): readonly Finding[] {
  const documents = texts.flatMap((text, index) =>
    parseManifest(text).documents.map(({ number, value, pods }) => ({ file: `${index}.yaml`, number, value, pods })),
  );
  return lint(createManifestSet(documents, "default", profiles));
}

export const idsIn = (...texts: readonly string[]): readonly string[] =>
  findingsIn(...texts).map(({ rule }) => rule.id);

export const SERVICE = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports:
  - {name: http, port: 80, targetPort: 8080}
`;

type DeploymentFields = {
  /** Fields of the container, as a YAML flow mapping without braces. */
  readonly container?: string;
  readonly image?: string;
  readonly pod?: string;
  readonly spec?: string;
  readonly annotations?: string;
  readonly kind?: string;
};

const PRESTOP_SLEEP = "lifecycle: {preStop: {sleep: {seconds: 5}}}";
export const READINESS_PROBE = "readinessProbe: {httpGet: {path: /ready, port: 8080}}";

/** Returns a Deployment without findings, except for findings that `fields` cause. */
export function deployment(fields: DeploymentFields = {}): string {
  const {
    container = `${PRESTOP_SLEEP}, ${READINESS_PROBE}`,
    image = "shop/web:1",
    pod = "",
    spec = "replicas: 2",
    annotations = "",
  } = fields;
  return `
apiVersion: apps/v1
kind: ${fields.kind ?? "Deployment"}
metadata: {name: web, annotations: {${annotations}}}
spec:
  ${spec}
  template:
    metadata: {labels: {app: web}}
    spec:
      ${pod}
      containers:
      - {name: app, image: "${image}", ports: [{name: http, containerPort: 8080}], ${container}}
`;
}
