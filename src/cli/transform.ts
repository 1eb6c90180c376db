/** Injects or uninjects all manifests of a request, and reports the workloads. Prints nothing. */
import { injectPod } from "../injection/inject.ts";
import type { Explanation, Outcome } from "../injection/outcome.ts";
import { uninjectPod } from "../injection/uninject.ts";
import type { LocatedPod } from "../kubernetes/pod-template.ts";
import { isRawObject, objectAt, type RawObject, valueAt, withoutKey } from "../kubernetes/raw-json.ts";
import { editManifest, type PodEdit } from "./manifest/edit-manifest.ts";
import { namespacesIn, settingWarnings } from "./namespaces.ts";
import {
  type FileProblem,
  type OpenedManifests,
  type OpenManifest,
  openManifests,
  sourceName,
} from "./open-manifests.ts";
import type { Ports } from "./ports.ts";
import type { CommandRequest, InjectRequest } from "./request.ts";
import { injectionReport, type WorkloadName, type WorkloadReport } from "./workload-report.ts";

export type ChangedManifest = { readonly name: string; readonly before: string; readonly after: string };

export type Decision = {
  readonly report: WorkloadReport;
  readonly pod: RawObject;
  readonly namespaceLabels: RawObject | undefined;
  readonly outcome: Outcome;
  readonly explanation: Explanation;
};

export type Transformed = {
  readonly manifests: readonly ChangedManifest[];
  readonly reports: readonly WorkloadReport[];
  readonly decisions: readonly Decision[];
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
  readonly sources: readonly string[];
};

export async function injectManifests(request: InjectRequest, ports: Ports): Promise<Transformed> {
  const opened = await openManifests(request, ports);
  const namespaces = namespacesIn(opened.manifests);
  const decisions: Decision[] = [];
  const edit =
    (file: string): PodEdit =>
    (locatedPod, document) => {
      const name = workloadName({
        file,
        document: document.number,
        locatedPod,
        defaultNamespace: request.namespace,
      });
      const pod = podAsCreated(locatedPod);
      const namespace = namespaces.get(name.namespace);
      const outcome = injectPod(
        {
          pod,
          podName: name.kind === "Pod" ? undefined : `of ${locatedPod.owner}`,
          namespace: name.namespace,
          optIn: "all",
          namespaceAnnotations: namespace?.annotations ?? {},
          overrides: request.overrides,
        },
        request.config,
        request.facts,
        { newToken: () => ports.deriveToken(request.tokenSeed, { ...name, template: locatedPod.templatePath }) },
      );
      const report = injectionReport(name, locatedPod, outcome);
      decisions.push({ report, pod, namespaceLabels: namespace?.labels, outcome, explanation: outcome.explanation });
      return outcome.kind === "patched" ? withTemplatePolicy(locatedPod, outcome.pod) : undefined;
    };
  const editedManifests = editManifests(opened.manifests, edit, true);
  const reports = decisions.map(({ report }) => report);
  const warnings = [...opened.warnings, ...settingWarnings(opened.manifests, request)];
  return {
    ...combineResults({ ...opened, warnings }, editedManifests, reports),
    decisions,
    sources: request.paths.map(sourceName),
  };
}

export async function uninjectManifests(request: CommandRequest, ports: Ports): Promise<Transformed> {
  const opened = await openManifests(request, ports);
  const reports: WorkloadReport[] = [];
  const edit =
    (file: string): PodEdit =>
    (locatedPod, document) => {
      const name = workloadName({
        file,
        document: document.number,
        locatedPod,
        defaultNamespace: request.namespace,
      });
      const result = uninjectPod(locatedPod.pod);
      const outcome = result.kind === "uninjected" ? "uninjected" : "not-injected";
      reports.push({ ...name, outcome, problems: [] });
      return result.kind === "uninjected" ? result.pod : undefined;
    };
  const changed = editManifests(opened.manifests, edit, false);
  return { ...combineResults(opened, changed, reports), decisions: [], sources: request.paths.map(sourceName) };
}

function combineResults(
  opened: OpenedManifests,
  changed: ChangedManifests,
  reports: readonly WorkloadReport[],
): Omit<Transformed, "decisions" | "sources"> {
  // Drops the reports of documents that could not be edited, because their workloads are unchanged.
  const hasFailed = ({ file, document }: WorkloadReport): boolean =>
    changed.problems.some((problem) => problem.file === file && problem.document === document);
  return {
    manifests: changed.manifests,
    reports: reports.filter((report) => !hasFailed(report)),
    problems: [...opened.problems, ...changed.problems],
    warnings: opened.warnings,
  };
}

type ChangedManifests = { readonly manifests: readonly ChangedManifest[]; readonly problems: readonly FileProblem[] };

function editManifests(
  manifests: readonly OpenManifest[],
  edit: (file: string) => PodEdit,
  preserve: boolean,
): ChangedManifests {
  const problems: FileProblem[] = [];
  const changedManifests = manifests.map(({ name, text, byteOrderMark, parsed }) => {
    // After a problem nothing is written, so the other documents are not edited.
    if (parsed.problems.length > 0) return { name, before: byteOrderMark + text, after: byteOrderMark + text };
    const editResult = editManifest(text, parsed, edit(name), preserve);
    if (!editResult.ok) problems.push({ ...editResult.problem, file: name });
    return { name, before: byteOrderMark + text, after: byteOrderMark + (editResult.ok ? editResult.text : text) };
  });
  return { manifests: changedManifests, problems };
}

type WorkloadPlace = {
  readonly file: string;
  readonly document: number;
  readonly locatedPod: LocatedPod;
  readonly defaultNamespace: string;
};

function workloadName({ file, document, locatedPod, defaultNamespace }: WorkloadPlace): WorkloadName {
  const slashIndex = locatedPod.owner.indexOf("/");
  return {
    file,
    document,
    kind: slashIndex < 0 ? locatedPod.owner : locatedPod.owner.slice(0, slashIndex),
    namespace: locatedPod.namespace === "" ? defaultNamespace : locatedPod.namespace,
    name: slashIndex < 0 ? "" : locatedPod.owner.slice(slashIndex + 1),
    ...(locatedPod.templatePath === "" ? {} : { template: locatedPod.templatePath }),
  };
}

/**
 * Operators such as Kubeflow's set the Pod's restartPolicy from a field outside of the template. Eligibility is decided for the
 * resulting Pod; the template is not changed.
 */
function podAsCreated({ pod, restartPolicy }: LocatedPod): RawObject {
  const spec = objectAt(pod, "spec");
  return restartPolicy === undefined || spec === undefined ? pod : { ...pod, spec: { ...spec, restartPolicy } };
}

function withTemplatePolicy(locatedPod: LocatedPod, changed: object): object {
  if (podAsCreated(locatedPod) === locatedPod.pod || !isRawObject(changed)) return changed;
  const spec = objectAt(changed, "spec") ?? {};
  const templatePolicy = valueAt(objectAt(locatedPod.pod, "spec"), "restartPolicy");
  return {
    ...changed,
    spec: templatePolicy === undefined ? withoutKey(spec, "restartPolicy") : { ...spec, restartPolicy: templatePolicy },
  };
}
