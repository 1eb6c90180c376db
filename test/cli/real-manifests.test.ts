import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { lastcall, type Ran } from "./run-lastcall.ts";

const ROOT = join(import.meta.dirname, "../fixtures/real-manifests");
const files = readdirSync(ROOT, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(ya?ml|json|injected)$/.test(entry.name))
  .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
  .sort();

function readText(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** Documents by the library's own reader, which shares nothing with the program's. */
function documentsOf(text: string): readonly string[] {
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: "silent" });
  expect(documents.flatMap((document) => document.errors)).toEqual([]);
  return documents.map((document) => JSON.stringify(document.toJS({ maxAliasCount: 1_000 })));
}

test("the set is complete", () => {
  expect(files).toHaveLength(135);
});

const ran = new Map<string, Promise<Ran>>();

/** The same run for both cases of a file. */
function injectedOnce(file: string): Promise<Ran> {
  const run = ran.get(file) ?? lastcall(["inject"], { "-": readText(file) });
  ran.set(file, run);
  return run;
}

describe("a real manifest", () => {
  test.for(files)("%s is injected once, stays the same the second time, and comes back byte for byte", async (file) => {
    const original = readText(file);
    const once = await injectedOnce(file);
    expect(once.status, once.err).not.toBe(1);
    const twice = await lastcall(["inject"], { "-": once.out });
    expect(twice.status, twice.err).toBe(2);
    expect(twice.out).toBe(once.out);
    const back = await lastcall(["uninject"], { "-": once.out });
    expect(back.status, back.err).toBe(once.status);
    expect(back.out).toBe(original);
    if (once.status === 2) expect(once.out).toBe(original);
  });

  test.for(files)("%s keeps every document without a Pod and stays readable", async (file) => {
    const original = readText(file);
    const { out } = await injectedOnce(file);
    const before = documentsOf(original);
    const after = documentsOf(out);
    expect(after).toHaveLength(before.length);
    for (const [index, document] of before.entries()) {
      if (!/"(containers|template|jobTemplate|items)"/.test(document)) expect(after[index]).toBe(document);
    }
    if (file.endsWith(".json")) expect(() => JSON.parse(out)).not.toThrow();
  });
});

/** Odd on purpose: an API server would not take them, or they only look like something of Kubernetes. */
const ODD = [
  {
    file: "linkerd+linkerd2/controller/proxy-injector/fake/data/pod-with-debug-disabled.yaml",
    says: 'warning: standard input, document 1: Kubernetes has no Pod in apiVersion "apps/v1"; left as it is\n',
  },
  {
    file: "open-policy-agent+gatekeeper-library/library/general/allowedrepos/samples/repo-must-be-openpolicyagent/disallowed_all.yaml",
    says:
      "Pod default/nginx-disallowed: skipped (invalid_pod): the object is not a Pod the API server would accept: " +
      'spec.initContainers[0].name is "nginx" a second time, expected names that differ\n',
  },
];

describe("an odd manifest is left alone with a clear word", () => {
  test.for(ODD)("$file", async ({ file, says }) => {
    const text = readText(file);
    expect(await lastcall(["inject"], { "-": text })).toEqual({ status: 2, out: text, err: says });
  });
});

test("a key given twice is named with its place, and the last one counts", async () => {
  const text = readText("argoproj+argo-cd/gitops-engine/pkg/health/testdata/statefulset-ondelete.yaml");
  const { status, out, err } = await lastcall(["inject"], { "-": text });
  expect(status).toBe(0);
  expect(err).toMatch(
    /^warning: standard input, document 1, line \d+, column \d+: the key "updateStrategy" is given twice/,
  );
  expect(parse(out, { uniqueKeys: false }).spec.updateStrategy).toEqual(
    parse(text, { uniqueKeys: false }).spec.updateStrategy,
  );
});

test("an image still to be filled in is no reason to refuse a manifest", async () => {
  const text = readText("ray-project+kuberay/historyserver/config/historyserver-gcs.yaml");
  const { status, out } = await lastcall(["inject"], { "-": text });
  expect(status).toBe(0);
  for (const line of text.split("\n").filter((line) => line.includes("image:"))) expect(out).toContain(line);
});
