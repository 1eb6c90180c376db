/** Runs the golden cases through the command line, which must inject the same Pods as the webhook. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { injectPod } from "../../src/injection/inject.ts";
import { expectedPodOf, type GoldenCase, listGoldenNames, readGoldenCase } from "../golden/corpus.ts";
import { type CommandResult, lastcall } from "./run-lastcall.ts";

/** Facts that only the webhook has. The command line does not add pull secrets, which would replace the ServiceAccount's. */
const WEBHOOK_FACTS = ["limitRanges", "managerPullPolicy", "pullSecrets", "imagePullError"] as const;

/** All cases except those that only apply to the webhook, because they depend on opt-in or on cluster state. */
const cases = listGoldenNames()
  .map(readGoldenCase)
  .filter(({ request, facts }) => request.optIn === "all" && !WEBHOOK_FACTS.some((fact) => facts[fact] !== undefined));

function flagsOf({ facts, request }: GoldenCase): readonly string[] {
  return [
    ...["--namespace", request.namespace],
    ...["--kube-version", facts.apiServerVersion],
    ...["--kubelet-version", facts.lowestKubeletVersion ?? "unknown"],
    ...["--image", facts.managerImage],
    ...["--config", "config.yaml"],
    ...["-f", "namespace.yaml", "-f", "pod.yaml"],
  ];
}

function namespaceOf({ request }: GoldenCase): string {
  return stringify({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: request.namespace, annotations: request.namespaceAnnotations },
  });
}

/** Formats the Pod for kubectl, which needs a kind and reads an unquoted `yes` as true. */
function manifestOf(golden: GoldenCase): string {
  const text = readFileSync(join(golden.folder, "input.yaml"), "utf8");
  const isSameForKubectl = isDeepStrictEqual(parse(text, { version: "1.1" }), parse(text));
  const manifest = isSameForKubectl ? text : stringify(parse(text), { version: "1.1" });
  return /^kind: Pod$/m.test(text) ? manifest : POD_KIND + manifest;
}

const POD_KIND = "apiVersion: v1\nkind: Pod\n";

describe.for(cases)("the golden case $name", (golden) => {
  const input = manifestOf(golden);
  const files = { "namespace.yaml": namespaceOf(golden), "config.yaml": stringify(golden.config), "pod.yaml": input };
  const outcome = injectPod(golden.request, golden.config, golden.facts, { newToken: () => golden.token });

  let pendingResult: Promise<CommandResult> | undefined;
  const injectOnce = (): Promise<CommandResult> => {
    pendingResult ??= lastcall(["inject", ...flagsOf(golden)], files, golden.token);
    return pendingResult;
  };

  test("is changed by inject to the golden Pod, or causes an error if the Pod is refused", async () => {
    const { status, out, err } = await injectOnce();
    expect(status, err).toBe({ patched: 0, refused: 1, unchanged: 0 }[outcome.kind]);
    if (outcome.kind === "refused") expect(out).toBe("");
    else {
      const pod = parse(out.slice(files["namespace.yaml"].length + "---\n".length));
      expect(pod).toEqual({ ...parse(POD_KIND), ...expectedPodOf(golden) });
    }
  });

  test("is reported by inject with the injector's outcome, reason, mode and problems", async () => {
    const { err } = await lastcall(["inject", "--json", ...flagsOf(golden)], files, golden.token);
    const [report] = JSON.parse(err).workloads;
    expect(report.problems).toEqual(outcome.explanation.problems);
    expect(report.outcome).toBe({ patched: "injected", refused: "refused", unchanged: "skipped" }[outcome.kind]);
    expect(report.reason).toBe(outcome.kind === "unchanged" ? outcome.reason : undefined);
    expect(report.mode).toBe(outcome.kind === "patched" ? outcome.mode : undefined);
  });

  test("is restored byte for byte by uninject", async () => {
    const injectedResult = await injectOnce();
    const restoredResult = await lastcall(["uninject"], { "-": injectedResult.out });
    const uninjectedInput = await lastcall(["uninject"], { "-": input });
    expect(restoredResult.out).toBe(
      injectedResult.status === 1 ? "" : `${files["namespace.yaml"]}---\n${uninjectedInput.out}`,
    );
  });
});
