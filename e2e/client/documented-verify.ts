/** Runs `lastcall verify` as docs/verify.md describes: as a step of a pipeline, and as the Job of an Argo Rollouts analysis. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { KubernetesObject, V1Job, V1JobSpec } from "@kubernetes/client-node";
import { parseAllDocuments } from "yaml";
import { type Attempt, attempt } from "../host/run.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { RELEASE_NAMESPACE } from "./release.ts";
import { imageOf } from "./suite.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = join(ROOT, "docs/verify.md");
const JOB = "verify";

type Analysis = KubernetesObject & {
  readonly spec: { readonly metrics: readonly { readonly provider: { readonly job: { readonly spec: V1JobSpec } } }[] };
};

/** @returns the manifests below a heading of the page, with the case's namespaces and images. @throws if there are none */
function documentedObjects<T>(namespace: CaseNamespace, heading: string): readonly T[] {
  const [, section = ""] = readFileSync(PAGE, "utf8").split(`\n## ${heading}\n`);
  const [, block] = /^```yaml\n(.*?)^```$/ms.exec(section) ?? [];
  if (block === undefined) throw new Error(`docs/verify.md has no YAML below "${heading}".`);
  const text = block
    .replaceAll("namespace: shop", `namespace: ${namespace.name}`)
    .replaceAll("namespace: lastcall", `namespace: ${RELEASE_NAMESPACE}`)
    .replaceAll("namespace=shop", `namespace=${namespace.name}`)
    .replaceAll("namespace=lastcall", `namespace=${RELEASE_NAMESPACE}`)
    .replaceAll("--namespace shop", `--namespace ${namespace.name}`)
    .replaceAll("--lastcall-namespace lastcall", `--lastcall-namespace ${RELEASE_NAMESPACE}`)
    .replace(/registry\.example\/lastcall-webhook:\S+/, imageOf(namespace.suite, "lastcall-webhook"));
  return parseAllDocuments(text).map((document): T => document.toJS());
}

/** Runs the function with the documented permissions. */
export async function withDocumentedPermissions<T>(namespace: CaseNamespace, run: () => Promise<T>): Promise<T> {
  const items = documentedObjects<KubernetesObject>(namespace, "Rights");
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await namespace.clusterKubectl.run(["apply", "--filename=-"], list);
  try {
    return await run();
  } finally {
    await namespace.clusterKubectl.attempt(["delete", "--ignore-not-found", "--filename=-"], list);
  }
}

/** @throws if docs/verify.md does not contain an analysis */
export function documentedAnalysis(namespace: CaseNamespace): Analysis {
  const [analysis] = documentedObjects<Analysis>(namespace, "Argo Rollouts");
  if (analysis === undefined) throw new Error("docs/verify.md has no AnalysisTemplate.");
  return analysis;
}

/** Runs the Job of the documented analysis with the documented permissions. @returns whether the Job succeeded, and the Job's log */
export async function runDocumentedJob(namespace: CaseNamespace): Promise<{ succeeded: boolean; log: string }> {
  const text = JSON.stringify(documentedAnalysis(namespace).spec.metrics[0]?.provider.job.spec);
  const spec: V1JobSpec = JSON.parse(text.replace("{{args.workload}}", "deployment/web"));
  const job: V1Job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: JOB, namespace: namespace.name }, spec };
  const { kubectl } = namespace;
  return withDocumentedPermissions(namespace, async () => {
    await kubectl.run(["apply", "--filename=-"], JSON.stringify(job));
    const succeeded = await waitUntil({ condition: "the Job has ended", withinMs: 120_000, everyMs: 500 }, async () => {
      const { status } = await kubectl.json<V1Job>(["get", "job", JOB]);
      if ((status?.succeeded ?? 0) > 0) return true;
      return (status?.failed ?? 0) > 0 ? false : undefined;
    });
    const log = await kubectl.run(["logs", `job/${JOB}`]);
    namespace.saveArtifact("verify-job.txt", log);
    return { succeeded, log };
  });
}

/** Runs the documented step of GitHub Actions in bash, with `lastcall` in the PATH. */
export async function runDocumentedStep(namespace: CaseNamespace): Promise<Attempt> {
  const [[step] = []] = documentedObjects<readonly { readonly run: string }[]>(namespace, "GitHub Actions");
  if (step === undefined) throw new Error("docs/verify.md has no step for GitHub Actions.");
  const folder = mkdtempSync(join(tmpdir(), "lastcall-step-"));
  const program = join(folder, "lastcall");
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "src/lastcall.ts")}" "$@"\n`);
  chmodSync(program, 0o755);
  const env = {
    ...process.env,
    PATH: `${folder}${delimiter}${process.env["PATH"]}`,
    KUBECONFIG: namespace.suite.kubeconfig,
  };
  try {
    return await attempt("bash", ["-e", "-c", step.run], { env });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
