/** Manifests of one company's cluster, written for these tests: every sort of Pod that matters to an injection. */
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { lastcall } from "../cli/run-lastcall.ts";
import { filesBelow, OUR_MANIFESTS } from "./folder.ts";
import { holdLawsOfManifests } from "./manifest-laws.ts";

const files = filesBelow(OUR_MANIFESTS);

function textOf(name: string): string {
  const found = files.find((file) => file.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found.text;
}

describe("a manifest", () => {
  holdLawsOfManifests(files);
});

/** Odd on purpose: an API server would not take them, or they only look like something of Kubernetes. */
const ODD = [
  {
    file: "pod-of-the-wrong-group.yaml",
    says: 'warning: standard input, document 1: Kubernetes has no Pod in apiVersion "apps/v1"; left unchanged\n',
  },
  {
    file: "name-given-twice.yaml",
    says:
      "Pod shop/cups: skipped (invalid_pod): the object is not a valid Pod: " +
      'spec.initContainers[0].name is "cups" more than once, expected unique names\n',
  },
];

describe("an odd manifest is left alone with a clear word", () => {
  test.for(ODD)("$file", async ({ file, says }) => {
    const text = textOf(file);
    expect(await lastcall(["inject"], { "-": text })).toEqual({ status: 0, out: text, err: says });
  });
});

test("a key given twice is named with its place, and the last one counts", async () => {
  const text = textOf("key-given-twice.yaml");
  const { status, out, err } = await lastcall(["inject"], { "-": text });
  expect(status).toBe(0);
  expect(err).toMatch(/^warning: standard input, document 1, line \d+, column \d+: duplicate key "updateStrategy"/);
  expect(parse(out, { uniqueKeys: false }).spec.updateStrategy).toEqual({
    type: "RollingUpdate",
    rollingUpdate: { partition: 1 },
  });
});

test("an image still to be filled in is no reason to refuse a manifest", async () => {
  const { status, out } = await lastcall(["inject"], { "-": textOf("image-to-fill-in.yaml") });
  expect(status).toBe(0);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what the release fills in
  expect(out).toContain("image: ${REGISTRY}/shop/postcards:${TAG}\n");
});
