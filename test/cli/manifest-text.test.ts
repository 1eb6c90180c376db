import { describe, expect, test } from "vitest";
import { injectedTextOf, lastcall, uninjectedTextOf } from "./run-lastcall.ts";

const POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n";
const CONTAINERS = "spec:\n  containers:\n  - name: app\n    image: shop/web:1.4\n";

/** Texts that would change if they were parsed and then printed. */
const TEXTS: readonly { readonly title: string; readonly text: string }[] = [
  { title: "Windows line ends", text: (POD + CONTAINERS).replaceAll("\n", "\r\n") },
  { title: "no line break at the end", text: (POD + CONTAINERS).trimEnd() },
  { title: "several blank lines at the end", text: `${POD}${CONTAINERS}\n\n\n` },
  { title: "a byte-order mark", text: `\ufeff${POD}${CONTAINERS}` },
  {
    title: "comments everywhere",
    text: `# top\n${POD}  # about the spec\nspec: # here\n  # the list\n  containers: # c\n  # first\n  - name: app # n\n    # inside\n    image: b # i\n  # behind\n# end\n`,
  },
  {
    title: "comments at unusual columns",
    text: `${POD}spec:\n  containers:\n# left\n  - name: app\n          # right\n    image: b\n      # deeper\n`,
  },
  {
    title: "indented list items and an indentation of four spaces",
    text: `${POD}spec:\n    containers:\n        -   name: app\n            image: b\n            ports:\n                -   containerPort: 80\n`,
  },
  { title: "every kind of quote", text: `${POD}spec:\n  'containers':\n  - "name": 'app'\n    image: "b\\u0041"\n` },
  {
    title: "block scalars at the end of every part",
    text: `${POD}  annotations:\n    note: |+\n      text\n\n    # tail\nspec:\n  containers:\n  - name: app\n    args:\n    - >-\n      one\n      two\n\n    - |2\n        kept\n\n\n# end\n`,
  },
  {
    title: "flow mappings in a block mapping",
    text: `${POD}spec: {containers: [{name: app, image: b}, {name: side,   image: c }] } # x\n`,
  },
  {
    title: "flow mappings over several lines with trailing commas",
    text: `---\n{\n  apiVersion: "v1", kind: "Pod",\n  metadata: { name: "web", },\n  spec: {\n    containers: [{\n      name: "app", # first\n      image: "b",\n    }],\n  },\n}\n`,
  },
  {
    title: "JSON in one line",
    text: '{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"app","image":"b"}]}}',
  },
  {
    title: "JSON with spaces in one line",
    text: '{"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"containers": [{"name": "app"}]}}\n',
  },
  {
    title: "JSON with tabs and empty objects",
    text: `${JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { annotations: {} }, spec: { initContainers: [], containers: [{ name: "app", lifecycle: {} }] } }, null, "\t")}\n`,
  },
  {
    title: "JSON with Windows line ends",
    text: JSON.stringify(
      { kind: "Pod", apiVersion: "v1", spec: { containers: [{ name: "app" }] } },
      null,
      4,
    ).replaceAll("\n", "\r\n"),
  },
  {
    title: "empty fields",
    text: `${POD}  annotations: {}\nspec:\n  initContainers: []\n  containers:\n  - name: app\n    lifecycle: {}\n`,
  },
  {
    title: "fields with null in three spellings",
    text: `${POD}  annotations: # none\nspec:\n  initContainers: ~ # none\n  terminationGracePeriodSeconds:\n  containers:\n  - name: app\n    lifecycle: null\n`,
  },
  {
    title: "a grace period in hexadecimal",
    text: `${POD}spec:\n  terminationGracePeriodSeconds: 0x1E # hex\n  containers:\n  - name: app\n`,
  },
  {
    title: "a sleeping hook with comments and mixed quotes",
    text: `${POD}spec:\n  containers:\n  - name: app\n    lifecycle:\n      preStop: # wait\n        exec:\n\n          # for the proxies\n          command: ['sh', "-c", 'sleep 7']   # seven\n    image: b\n`,
  },
  {
    title: "a sleeping hook inside braces",
    text: `${POD}spec:\n  containers:\n  - {name: app, lifecycle: {preStop: {exec: {command: ["sleep",'5']}}}, image: b} # x\n`,
  },
  {
    title: "a sleeping hook on the dash's line",
    text: `${POD}spec:\n  containers:\n  - lifecycle:\n      preStop:\n        sleep: {"seconds": 5}\n    name: app\n`,
  },
  {
    title: "a duplicate key",
    text: `${POD}spec:\n  terminationGracePeriodSeconds: 10\n  containers:\n  - name: app\n  terminationGracePeriodSeconds: 45 # last\n`,
  },
  {
    title: "other documents before and after",
    text: `# first\nkind: ConfigMap\ndata: {a:   b}\n...\n---   # second\n${POD}${CONTAINERS}---\n- odd\n--- |\n text\n`,
  },
  { title: "a YAML directive", text: `%YAML 1.2\n---\n${POD}${CONTAINERS}...\n` },
  {
    title: "redundant tags",
    text: `${POD}spec: !!map\n  containers: !!seq\n  - !!map\n    name: app\n    image: !!str b\n`,
  },
  {
    title: "keys that are dangerous in JavaScript",
    text: `${POD}  __proto__: {x: 1}\nspec:\n  __proto__:\n    hostNetwork: true\n  containers:\n  - name: app\n    constructor: {prototype: 1}\n`,
  },
  {
    title: "two Deployments whose Pod template is one anchor and its alias",
    text: `apiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: a}\n  spec:\n    template: &t\n      spec:\n        containers:\n        - name: app\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: b}\n  spec:\n    template: *t  # the same\n`,
  },
  {
    title: "containers that use merge keys",
    text: `${POD}x-base: &base\n  name: app\n  image: b\nspec:\n  containers:\n  - <<: *base\n    image: c # newer\n  - <<: *base\n    name: side\n`,
  },
  {
    title: "an alias as the list of containers",
    text: `${POD}x-list: &list\n- name: app\n  image: b\nspec:\n  containers: *list # above\n`,
  },
  {
    title: "an alias of the grace period in another field",
    text: `${POD}spec: &s\n  terminationGracePeriodSeconds: &g 30\n  activeDeadlineSeconds: *g\n  containers: &c\n  - &n\n    name: app\n`,
  },
];

describe("after inject, uninject restores a manifest byte for byte", () => {
  test.for(TEXTS)("with $title", async ({ text }) => {
    const result = await lastcall(["inject"], { "-": text });
    expect(result.status, result.err).toBe(0);
    expect(result.out).toContain("/prestop/app");
    expect(await uninjectedTextOf(result.out)).toBe(text);
    expect(await lastcall(["inject"], { "-": result.out })).toMatchObject({ status: 0, out: result.out });
  });
});

const FLAGS: readonly (readonly string[])[] = [
  ["--mode", "sleep"],
  ["--kube-version", "1.28"],
  ["--drain-timeout", "10m", "--prestop", "replace"],
];

describe("after inject with other flags, uninject restores a manifest", () => {
  test.for(TEXTS.flatMap(({ title, text }) => FLAGS.map((flags) => ({ title, text, flags: flags.join(" ") }))))(
    "with $title and $flags",
    async ({ text, flags }) => {
      const injectedText = await injectedTextOf(text, ...flags.split(" "));
      expect(injectedText).not.toBe(text);
      expect(await uninjectedTextOf(injectedText)).toBe(text);
    },
  );
});

test("uninject restores a manifest after a second injection with other values", async () => {
  for (const { text } of TEXTS) {
    const injectedText = await injectedTextOf(text);
    const secondResult = await lastcall(["inject", "--drain-timeout", "90s"], { "-": injectedText });
    expect(secondResult.status, secondResult.err).toBe(0);
    expect(secondResult.out).toContain("--drain-timeout=90s");
    expect(await uninjectedTextOf(secondResult.out)).toBe(text);
  }
});

test("inject adds lines with the indentation of the document", async () => {
  const text = `apiVersion: v1\nkind: Pod\nspec:\n    containers:\n        - name: app\n          image: b # c\n`;
  const { out } = await lastcall(["inject", "--mode", "sleep"], { "-": text });
  expect(out).toContain(
    "        - name: app\n          image: b # c\n          lifecycle:\n              preStop:\n                  sleep:\n                      seconds: 5\n    terminationGracePeriodSeconds: 35\n",
  );
});

test("inject adds a new first item above the comments of the old first item", async () => {
  const text = `${POD}spec:\n  initContainers: # before all\n\n  # migrations\n  - name: setup\n  containers:\n  - name: app\n`;
  const injectedText = await injectedTextOf(text);
  expect(injectedText).toContain("  initContainers: # before all\n  - name: lastcall\n");
  expect(injectedText).toContain("\n\n  # migrations\n  - name: setup\n");
});

test("inject adds lines with the line endings of the document", async () => {
  for (const text of [
    (POD + CONTAINERS).replaceAll("\n", "\r\n"),
    TEXTS.find(({ title }) => title.startsWith("JSON with W"))?.text ?? "",
  ]) {
    const injectedText = await injectedTextOf(text);
    expect(injectedText.length).toBeGreaterThan(text.length);
    expect(injectedText.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  }
});

test("inject adds entries of an empty JSON object on separate lines", async () => {
  const pod = { kind: "Pod", apiVersion: "v1", metadata: { annotations: {} }, spec: { containers: [{ name: "app" }] } };
  const injectedText = await injectedTextOf(`${JSON.stringify(pod, null, 2)}\n`);
  expect(injectedText).toBe(`${JSON.stringify(JSON.parse(injectedText), null, 2)}\n`);
});

test("inject preserves, as a comment, the lines that uninject cannot reproduce", async () => {
  const text = `${POD}spec:\n  containers:\n  - name: app\n    lifecycle:\n      preStop:\n        exec:\n          command: ["sleep", "7"] # s\n`;
  expect(await injectedTextOf(text)).toContain(
    [
      "      # lastcall keeps: preStop:",
      "      # lastcall keeps:   exec:",
      '      # lastcall keeps:     command: ["sleep", "7"]',
      "      preStop:",
      "        httpGet:",
    ].join("\n"),
  );
});

test("uninject does not change an author's comment that looks like preserved lines", async () => {
  const text = `${POD}spec:\n  # lastcall keeps: terminationGracePeriodSeconds: 5\n  terminationGracePeriodSeconds: 30\n  containers:\n  - name: app\n`;
  expect(await uninjectedTextOf(await injectedTextOf(text))).toBe(text);
});

test("the npm package yaml reads the same Pod from an injected YAML manifest as from an injected JSON manifest", async () => {
  const { parse } = await import("yaml");
  const yamlPod = parse(await injectedTextOf(`${POD}${CONTAINERS}`, "--token-seed", "s"));
  const jsonPod = JSON.parse(await injectedTextOf(JSON.stringify(parse(`${POD}${CONTAINERS}`)), "--token-seed", "s"));
  expect(jsonPod).toEqual(yamlPod);
  expect(yamlPod.spec.initContainers[0].restartPolicy).toBe("Always");
});
