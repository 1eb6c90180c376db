/** Tests manifests of a fictional company, written for these tests, with every type of Pod that affects an injection. */
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { lastcall } from "../cli/run-lastcall.ts";
import { filesIn, OUR_MANIFESTS } from "./folder.ts";
import { testManifestProperties } from "./manifest-properties.ts";

const files = filesIn(OUR_MANIFESTS);

function textOf(name: string): string {
  const found = files.find((file) => file.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found.text;
}

describe("an example manifest", () => {
  testManifestProperties(files);
});

/** Invalid manifests: an API server would refuse the objects, or the objects only resemble Kubernetes objects. */
const INVALID_MANIFESTS = [
  {
    file: "pod-of-the-wrong-group.yaml",
    warning: 'warning: standard input, document 1: Kubernetes has no Pod in apiVersion "apps/v1"; left unchanged\n',
  },
  {
    file: "name-given-twice.yaml",
    warning:
      "Pod shop/cups: skipped (invalid_pod): the object is not a valid Pod: " +
      'spec.initContainers[0].name is "cups" more than once, expected unique names\n',
  },
];

describe("an invalid manifest is not changed and causes a warning:", () => {
  test.for(INVALID_MANIFESTS)("$file", async ({ file, warning }) => {
    const text = textOf(file);
    expect(await lastcall(["inject"], { "-": text })).toEqual({ status: 0, out: text, err: warning });
  });
});

test("a duplicate key in a manifest is reported with its place, and the key's last value applies", async () => {
  const text = textOf("key-given-twice.yaml");
  const { status, out, err } = await lastcall(["inject"], { "-": text });
  expect(status).toBe(0);
  expect(err).toMatch(/^warning: standard input, document 1, line \d+, column \d+: duplicate key "updateStrategy"/);
  expect(parse(out, { uniqueKeys: false }).spec.updateStrategy).toEqual({
    type: "RollingUpdate",
    rollingUpdate: { partition: 1 },
  });
});

test("a manifest with a placeholder as image is accepted", async () => {
  const { status, out } = await lastcall(["inject"], { "-": textOf("image-to-fill-in.yaml") });
  expect(status).toBe(0);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the release replaces the placeholder
  expect(out).toContain("image: ${REGISTRY}/shop/postcards:${TAG}\n");
});
