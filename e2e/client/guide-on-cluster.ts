/** Applies the manifest of a guide: every Pod in a dry run, and real objects if their programs can run. */
import type { KubernetesObject, V1Pod } from "@kubernetes/client-node";
import { expect } from "vitest";
import { lastcall as runInProcess } from "../../test/cli/run-lastcall.ts";
import { documentsOf, type ExamplePod, podsOf, readGuide } from "../../test/guides/manifests.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { dryRunCreate } from "./create-pods.ts";
import { reasonsPodCannotRun } from "./example-programs.ts";
import { type InjectionSummary, summarizeInjection } from "./injection-summary.ts";

type PodShape = Pick<V1Pod, "metadata" | "spec">;

/** The labels of the manifest's namespace, for the namespace of the case. */
export function namespaceLabels(guide: string): Readonly<Record<string, string>> {
  const objects = objectsOf(guide);
  return { ...objects.find(({ kind }) => kind === "Namespace")?.metadata?.labels };
}

/**
 * Creates every Pod of the manifest in a dry run. Then applies the objects whose images are available. Applies every other
 * object in a dry run only, and reports the reason.
 *
 * @param availableImages additional images of the nodes
 * @returns the names of running objects, such as `Deployment/web`.
 */
export async function applyGuide(
  namespace: CaseNamespace,
  guide: string,
  availableImages: readonly string[] = [],
): Promise<readonly string[]> {
  const { manifest } = readGuide(guide);
  const expected = await summarizeExpectedInjections(manifest);
  const pods = podsOf(manifest);
  const objects = objectsOf(guide);
  const prerequisites = objects.filter(({ kind }) => kind === "Namespace" || kind === "Service");
  if (prerequisites.length > 0) await namespace.apply(prerequisites);
  await createServiceAccounts(namespace, pods);
  for (const pod of pods) await expectInjected(namespace, pod, expected.get(pod.owner));
  const runningNames: string[] = [];
  for (const pod of pods) {
    const object = objects.find(({ kind, metadata }) => `${kind}/${metadata?.name}` === pod.owner);
    const reasons = reasonsPodCannotRun(imagesOf(pod).filter((image) => !availableImages.includes(image)));
    if (reasons.length === 0) {
      await namespace.apply(object === undefined ? [] : [object]);
      runningNames.push(pod.owner);
      continue;
    }
    recordLine(namespace, `${guide}: ${pod.owner} is applied only in a dry run. ${reasons.join("; ")}.`);
    const dryRunArgs = ["apply", "--server-side", "--dry-run=server", "--filename=-"];
    await namespace.kubectl.run(dryRunArgs, JSON.stringify(object));
  }
  return runningNames;
}

/** Expects that running Pods exist and are injected as the command line injects them. */
export async function expectRunning(namespace: CaseNamespace, guide: string, owner: string, selector: string) {
  const expected = (await summarizeExpectedInjections(readGuide(guide).manifest)).get(owner);
  const pods = await namespace.pods(selector);
  expect(pods.length).toBeGreaterThan(0);
  for (const pod of pods) expect(summarizeInjection(pod)).toEqual(expected);
}

/** Prints the line and adds it to the case's timeline. */
export function recordLine(namespace: CaseNamespace, line: string): void {
  namespace.addTimelineLine(line);
  process.stderr.write(`${line}\n`);
}

/** Repeats the dry run, because the webhook's watch delivers a namespace's annotations with a delay. */
async function expectInjected(namespace: CaseNamespace, example: ExamplePod, expected: InjectionSummary | undefined) {
  const condition = `the webhook injects the Pod of ${example.owner} as the command line does`;
  await waitUntil({ condition, withinMs: 30_000, everyMs: 300 }, async () => {
    const { pods } = await dryRunCreate(namespace.kubectl, [podOfExample(example)]);
    expect(pods.map(summarizeInjection)).toEqual([expected]);
    return true;
  });
}

async function summarizeExpectedInjections(manifest: string): Promise<ReadonlyMap<string, InjectionSummary>> {
  const { out } = await runInProcess(["inject"], { "-": manifest });
  return new Map(podsOf(out).map(({ owner, pod }) => [owner, summarizeInjection(pod as PodShape)]));
}

function podOfExample({ owner, pod }: ExamplePod): V1Pod {
  const { metadata, spec } = pod as PodShape;
  const name = owner.replaceAll("/", "-").toLowerCase();
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name }, ...(spec === undefined ? {} : { spec }) };
}

/** Creates the ServiceAccounts that the guide's third-party software would install: without them the API server refuses the Pods. */
async function createServiceAccounts(namespace: CaseNamespace, pods: readonly ExamplePod[]): Promise<void> {
  const accountNames = pods.flatMap(({ pod }) => (pod as PodShape).spec?.serviceAccountName ?? []);
  for (const name of new Set(accountNames)) await namespace.kubectl.run(["create", "serviceaccount", name]);
}

function imagesOf({ pod }: ExamplePod): readonly string[] {
  const { spec } = pod as PodShape;
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ image }) => image ?? "");
}

function objectsOf(guide: string): readonly KubernetesObject[] {
  return documentsOf(readGuide(guide).manifest) as readonly KubernetesObject[];
}
