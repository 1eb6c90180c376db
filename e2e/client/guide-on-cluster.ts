/** The manifest of a guide against the API server: every Pod as the guide says, and what can run does run. */
import type { KubernetesObject, V1Pod } from "@kubernetes/client-node";
import { expect } from "vitest";
import { lastcall as inProcess } from "../../test/cli/run-lastcall.ts";
import { documentsOf, type ExamplePod, guideNamed, podsOf } from "../../test/guides/manifests.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { whyNotRun } from "./example-programs.ts";
import { type InjectionSeen, injectionSeen } from "./injection-seen.ts";
import { wouldCreate } from "./server-answer.ts";

type PodShape = Pick<V1Pod, "metadata" | "spec">;

/** Labels of the namespace as the manifest has them, for the namespace of the case. */
export function namespaceLabels(guide: string): Readonly<Record<string, string>> {
  const objects = objectsOf(guide);
  return { ...objects.find(({ kind }) => kind === "Namespace")?.metadata?.labels };
}

/**
 * Asks the API server for every Pod of the manifest in a dry run, then applies what has images here for good, and the
 * rest in a dry run, telling why.
 *
 * @param given further images that the nodes have
 * @returns the names of what runs, such as `Deployment/web`.
 */
export async function applyGuide(
  namespace: CaseNamespace,
  guide: string,
  given: readonly string[] = [],
): Promise<readonly string[]> {
  const { manifest } = guideNamed(guide);
  const expected = await expectedOf(manifest);
  const pods = podsOf(manifest);
  const objects = objectsOf(guide);
  const settings = objects.filter(({ kind }) => kind === "Namespace" || kind === "Service");
  if (settings.length > 0) await namespace.apply(settings);
  await makeAccounts(namespace, pods);
  for (const pod of pods) await expectInjected(namespace, pod, expected.get(pod.owner));
  const running: string[] = [];
  for (const pod of pods) {
    const object = objects.find(({ kind, metadata }) => `${kind}/${metadata?.name}` === pod.owner);
    const missing = whyNotRun(imagesOf(pod).filter((image) => !given.includes(image)));
    if (missing.length === 0) {
      await namespace.apply(object === undefined ? [] : [object]);
      running.push(pod.owner);
      continue;
    }
    tell(namespace, `${guide}: ${pod.owner} is only asked for in a dry run. ${missing.join("; ")}.`);
    const dry = ["apply", "--server-side", "--dry-run=server", "--filename=-"];
    await namespace.here.run(dry, JSON.stringify(object));
  }
  return running;
}

/** Pods that run are what the dry run said. @throws when there is none */
export async function expectRunning(namespace: CaseNamespace, guide: string, owner: string, selector: string) {
  const expected = (await expectedOf(guideNamed(guide).manifest)).get(owner);
  const pods = await namespace.pods(selector);
  expect(pods.length).toBeGreaterThan(0);
  for (const pod of pods) expect(injectionSeen(pod)).toEqual(expected);
}

/** The person at the terminal hears what was not run, and so does the case's timeline. */
export function tell(namespace: CaseNamespace, line: string): void {
  namespace.note(line);
  process.stderr.write(`${line}\n`);
}

/** The webhook learns of a namespace's annotations a moment after they are written. */
async function expectInjected(namespace: CaseNamespace, example: ExamplePod, expected: InjectionSeen | undefined) {
  const what = `the webhook injects the Pod of ${example.owner} as the command line does`;
  await waitUntil({ what, withinMs: 30_000, everyMs: 300 }, async () => {
    const { pods } = await wouldCreate(namespace.here, [asPod(example)]);
    expect(pods.map(injectionSeen)).toEqual([expected]);
    return true;
  });
}

async function expectedOf(manifest: string): Promise<ReadonlyMap<string, InjectionSeen>> {
  const { out } = await inProcess(["inject"], { "-": manifest });
  return new Map(podsOf(out).map(({ owner, pod }) => [owner, injectionSeen(pod as PodShape)]));
}

function asPod({ owner, pod }: ExamplePod): V1Pod {
  const { metadata, spec } = pod as PodShape;
  const name = owner.replaceAll("/", "-").toLowerCase();
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name }, ...(spec === undefined ? {} : { spec }) };
}

/** A Pod is refused when its account is not there; the project that the guide is about brings it. */
async function makeAccounts(namespace: CaseNamespace, pods: readonly ExamplePod[]): Promise<void> {
  const named = pods.flatMap(({ pod }) => (pod as PodShape).spec?.serviceAccountName ?? []);
  for (const name of new Set(named)) await namespace.here.run(["create", "serviceaccount", name]);
}

function imagesOf({ pod }: ExamplePod): readonly string[] {
  const { spec } = pod as PodShape;
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ image }) => image ?? "");
}

function objectsOf(guide: string): readonly KubernetesObject[] {
  return documentsOf(guideNamed(guide).manifest) as readonly KubernetesObject[];
}
