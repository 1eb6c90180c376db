import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { POLICY_FLAGS } from "../../src/cli/policy-flags.ts";
import { ANNOTATIONS } from "../../src/policy/fields.ts";
import { lastcall } from "./run-lastcall.ts";

const POD =
  "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace: shop\nspec:\n  containers:\n  - name: app\n    image: b\n";
const JOB =
  "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: once\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: app\n";
const CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\ndata: {a:  b}\n";

describe("the command inject reports on standard error", () => {
  test("one line for each workload, with its reason or its grace period", async () => {
    const { status, err } = await lastcall(["inject"], { "-": `${POD}---\n${JOB}---\n${CONFIG_MAP}` });
    expect(status).toBe(0);
    expect(err).toBe(
      "Pod shop/web: injected native, grace 30 → 100 s\n" +
        "Job default/once: skipped (runs_to_completion): the Pod runs to completion and does not itself opt in\n",
    );
  });

  test("an annotation on a Deployment that belongs on its Pod template", async () => {
    const deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations: {lastcall.dev/drain-timeout: 2m}\n" +
      "spec:\n  template:\n    spec:\n      containers:\n      - name: app\n        image: b\n";
    const { status, err } = await lastcall(["inject"], { "-": deployment });
    expect(status).toBe(0);
    expect(err).toBe(
      'warning: standard input, document 1, line 5, column 17: "lastcall.dev/drain-timeout" has no effect on the workload. ' +
        "Set it on the Pod template.\nDeployment default/web: injected native, grace 30 → 100 s\n",
    );
  });

  test("a misspelt label of a Namespace without workloads", async () => {
    const namespace =
      "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  labels:\n    lastcall.dev/injct: enabled\n";
    const { status, err } = await lastcall(["inject"], { "-": namespace });
    expect(status).toBe(0);
    expect(err).toBe(
      'warning: standard input, document 1, line 6, column 5: Label "lastcall.dev/injct" is unknown; ' +
        "did you mean lastcall.dev/inject?\n",
    );
  });

  test("a problem of a Namespace once for all workloads in it", async () => {
    const namespace =
      "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  annotations: {lastcall.dev/mode: hook}\n";
    const { err } = await lastcall(["inject"], { "-": `${namespace}---\n${POD}---\n${POD.replace("web", "api")}` });
    expect(err.match(/Got "hook"/g)).toHaveLength(1);
  });

  test("a problem in a Pod template with the name of the workload", async () => {
    const text = JOB.replace(
      "    spec:\n      restart",
      "    metadata: {labels: {lastcall.dev/inject: on}}\n    spec:\n      restart",
    );
    const { err } = await lastcall(["inject"], { "-": text });
    expect(err).toContain(
      "  pod of Job/once, label lastcall.dev/inject: Got a boolean, expected one of enabled, disabled.",
    );
  });

  test("JSON with --json, and the manifests are on standard output", async () => {
    const { out, err } = await lastcall(["inject", "--json"], { "-": POD });
    expect(parse(out).spec.terminationGracePeriodSeconds).toBe(100);
    expect(JSON.parse(err)).toEqual({
      workloads: [
        {
          file: "standard input",
          document: 1,
          kind: "Pod",
          namespace: "shop",
          name: "web",
          outcome: "injected",
          mode: "native",
          graceSeconds: { before: 30, after: 100 },
          problems: [],
        },
      ],
      warnings: [],
      problems: [],
    });
  });

  test("an invalid annotation with the place, the value and a remedy", async () => {
    const text = POD.replace(
      "spec:",
      "  annotations:\n    lastcall.dev/drain-timeout: 90\n    lastcall.dev/drain-dely: 5s\nspec:",
    );
    const { status, err } = await lastcall(["inject"], { "-": text });
    expect(status).toBe(0);
    expect(err).toContain(
      "  pod web, lastcall.dev/drain-timeout: Got a number instead of a string, expected a duration with a unit, such as 30s",
    );
    expect(err).toContain("did you mean lastcall.dev/drain-delay?");
  });
});

describe("the exit status of inject", () => {
  test.for([
    { title: "is 0 for empty input", text: "", status: 0, isSame: true },
    { title: "is 0 for comments", text: "# nothing\n---\n", status: 0, isSame: true },
    { title: "is 0 for documents without Pods", text: CONFIG_MAP, status: 0, isSame: true },
    { title: "is 0 if every Pod is skipped", text: JOB, status: 0, isSame: true },
    { title: "is 0 if a Pod is injected", text: `${JOB}---\n${POD}`, status: 0 },
    { title: "is 1 for invalid YAML", text: `${POD}---\na: b: c\n`, status: 1 },
  ])("$title, and the manifests are printed unless there is an error", async ({ text, status, isSame }) => {
    const result = await lastcall(["inject"], { "-": text });
    expect(result.status).toBe(status);
    if (status === 1) expect(result.out).toBe("");
    if (isSame === true) expect(result.out).toBe(text);
  });

  test("is 1 if the cluster configuration has `onInvalid: deny` and a Pod has an invalid setting, and the reason is printed", async () => {
    const invalidPod = POD.replace("spec:", "  annotations: {lastcall.dev/drain-timeout: soon}\nspec:");
    const { status, out, err } = await lastcall(["inject", "--config", "c.yaml"], {
      "-": invalidPod,
      "c.yaml": "onInvalid: deny\n",
    });
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toMatch(/^Pod shop\/web: refused: .*"soon"/);
  });
});

/** Invalid inputs. Every error names the file, the document, the place and the remedy. */
const INVALID_INPUTS: readonly {
  readonly title: string;
  readonly text: string | Uint8Array;
  readonly err: string | RegExp;
}[] = [
  {
    title: "a Helm template with blocks",
    text: `${CONFIG_MAP}---\n${POD}  {{- with .Values.tolerations }}\n  tolerations: {{ toYaml . }}\n  {{- end }}\n`,
    err: /^error: standard input, document 2, line \d+, column \d+: this is an unrendered template \(\{\{ … \}\}\); run helm template/,
  },
  {
    title: "a Helm template with values only",
    text: POD.replace("image: b", "image: {{ .Values.image }}"),
    err: /^error: standard input, document 1, line 9, column 13: this is an unrendered template/,
  },
  {
    title: "a Helm template before the first key",
    text: `{{- if .Values.web }}\n${POD}{{- end }}\n`,
    err: /^error: standard input, document 1, line 1, column 1: this is an unrendered template/,
  },
  {
    title: "aliases that expand exponentially",
    text: `${Array.from(
      { length: 12 },
      (_, i) =>
        `k${i}: &k${i} [${Array(9)
          .fill(i === 0 ? "x" : `*k${i - 1}`)
          .join(",")}]`,
    ).join("\n")}\nkind: Pod\n`,
    err: "error: standard input, document 1, line 1, column 1: the document has more than 1000000 values after its aliases (*name) are expanded, and lastcall reads at most that many; remove nested aliases, or split the document\n",
  },
  {
    title: "an alias without an anchor",
    text: "kind: *nothing\n",
    err: "error: standard input, document 1, line 1, column 1: the alias *nothing refers to an anchor that is not defined before it; define the anchor first\n",
  },
  {
    title: "twenty thousand brackets",
    text: `${POD}x: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`,
    err: /^error: standard input, document 1, line 10, column \d+: the document is nested too deeply to be read\n$/,
  },
  {
    title: "a tab as indentation",
    text: "a:\n\tb: c\n",
    err: "error: standard input, document 1, line 2, column 1: not valid YAML or JSON: Tabs are not allowed as indentation\n",
  },
  {
    title: "truncated JSON",
    text: '{"kind": "Pod", "spec": {"cont',
    err: /^error: standard input, document 1, line 1, column \d+: not valid YAML or JSON: /,
  },
  {
    title: "binary data",
    text: new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0]),
    err: "error: standard input: this is binary data, not a YAML or JSON manifest\n",
  },
  {
    title: "Latin-1",
    text: new Uint8Array([0x61, 0x3a, 0x20, 0xe4, 0x0a]),
    err: "error: standard input: the text is not UTF-8; save it as UTF-8\n",
  },
  {
    title: "UTF-16",
    text: new Uint8Array([0xff, 0xfe, 0x61, 0]),
    err: "error: standard input: the text is UTF-16; save it as UTF-8\n",
  },
  {
    title: "keys in a style that cannot be edited in place",
    text: "? apiVersion\n: v1\n? kind\n: Pod\nspec:\n  ? containers\n  : - name: app\n",
    err: /^error: standard input, document 1: this document is written in a way that cannot be edited in place/,
  },
];

describe("inject rejects, with a place and a remedy,", () => {
  test.for(INVALID_INPUTS)("$title", async ({ text, err }) => {
    const result = await lastcall(["inject"], { "-": text });
    expect({ status: result.status, out: result.out }).toEqual({ status: 1, out: "" });
    if (typeof err === "string") expect(result.err).toBe(err);
    else expect(result.err).toMatch(err);
  });

  test("all invalid documents of all files together", async () => {
    const { status, err } = await lastcall(["inject", "-f", "a.yaml", "-f", "gone.yaml", "-f", "b.yaml"], {
      "a.yaml": `${POD}---\na: b: c\n---\n- a\nb\n`,
      "b.yaml": "x: {{ y }}\n",
    });
    expect(status).toBe(1);
    expect(err.match(/^error: .*$/gm)?.map((line) => line.slice(0, 30))).toEqual([
      "error: gone.yaml: no such file",
      "error: a.yaml, document 2, lin",
      "error: a.yaml, document 3, lin",
      "error: b.yaml, document 1, lin",
    ]);
  });
});

test("the YAML 1.1 boolean yes is read as true, as in kubectl", async () => {
  const { err } = await lastcall(["inject"], { "-": POD.replace("spec:", "spec:\n  hostNetwork: yes") });
  expect(err).toContain("skipped (host_network)");
});

test("braces in strings and comments are not reported as a Helm template", async () => {
  const text = `# {{ not here }}\n${POD}    args: ["{{ inputs.parameters.a }}", '{{b}}']\n`;
  expect((await lastcall(["inject"], { "-": text })).status).toBe(0);
});

describe("the flag -f", () => {
  test("reads files and folders in order, and separates documents by markers", async () => {
    const files = { "dir/b.yaml": CONFIG_MAP.trimEnd(), "dir/a.json": '{"kind": "A"}', "z.yaml": `---\n${CONFIG_MAP}` };
    const { out } = await lastcall(["inject", "-f", "dir", "-f", "z.yaml"], files);
    expect(out).toBe(`{"kind": "A"}\n---\n${CONFIG_MAP}---\n${CONFIG_MAP}`);
  });

  test("does not add a final line break to a single file", async () => {
    const { out } = await lastcall(["inject", "-f", "a.yaml"], { "a.yaml": `\ufeff${CONFIG_MAP.trimEnd()}` });
    expect(out).toBe(`\ufeff${CONFIG_MAP.trimEnd()}`);
  });
});

describe("the settings of a drain in the manager's flags", () => {
  const argsOf = (out: string): readonly string[] => parse(out).spec.initContainers[0].args;

  test.for(POLICY_FLAGS.map((field) => ANNOTATIONS[field].name))("are set by a flag for %s", async (name) => {
    const { out } = await lastcall(["inject", "--help"]);
    expect(out).toContain(`--${name} <value>`);
  });

  test("are set by flags, else by the Pod, the namespace or the cluster configuration, in this order", async () => {
    const annotations = "  annotations: {lastcall.dev/drain-timeout: 61s, lastcall.dev/quiet-period: 3s}\n";
    const pod = POD.replace("spec:", `${annotations}spec:`);
    const namespace =
      "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  annotations: {lastcall.dev/quiet-period: 4s, lastcall.dev/drain-delay: 6s}\n";
    const files = {
      "pod.yaml": pod,
      "ns.yaml": namespace,
      "c.yaml": "defaults: {drain-delay: 7s, deregistration-delay: 8s}\n",
    };
    const { out } = await lastcall(
      ["inject", "--config", "c.yaml", "--drain-timeout", "62s", "-f", "pod.yaml", "-f", "ns.yaml"],
      files,
    );
    expect(argsOf(out.split("---\n")[0] ?? "")).toEqual(
      expect.arrayContaining([
        "--drain-timeout=62s",
        "--quiet-period=3s",
        "--drain-delay=6s",
        "--deregistration-delay=8s",
      ]),
    );
  });

  test("are not set in a namespace that disables injection", async () => {
    const namespace =
      "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  labels: {lastcall.dev/inject: disabled}\n---\n";
    const { err } = await lastcall(["inject"], { "-": namespace + POD });
    expect(err).toContain("Pod shop/web: skipped (disabled): ");
  });

  test("are not set by an invalid flag", async () => {
    const { status, out, err } = await lastcall(["inject", "--drain-timeout", "soon"], { "-": POD });
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain('Got "soon", expected a duration with a unit, such as 30s');
  });

  test("are not set by an invalid cluster configuration, whose problems are all printed", async () => {
    const { status, err } = await lastcall(["inject", "--config", "c.yaml"], {
      "-": POD,
      "c.yaml": "defaults: {drain-delay: 5}\nprofile: {}\nonInvalid: maybe\n",
    });
    expect(status).toBe(1);
    expect(err.match(/^error: c\.yaml, /gm)).toHaveLength(3);
  });
});

describe("the token that inject writes into hooks", () => {
  const tokenOf = (out: string): string => parse(out).spec.initContainers[0].env[0].value;

  test("differs between workloads, and is not changed by a second injection", async () => {
    const { out } = await lastcall(["inject"], { "-": `${POD}---\n${POD.replace("web", "api")}` });
    const [first = "", second = ""] = out.split("---\n");
    expect(tokenOf(first)).not.toBe(tokenOf(second));
    const secondRun = await lastcall(["inject", "--quiet-period", "4s"], { "-": first });
    expect(tokenOf(secondRun.out)).toBe(tokenOf(first));
  });

  test("depends only on the seed, the kind, the namespace and the name", async () => {
    const readToken = async (seed: string, text: string): Promise<string> =>
      tokenOf((await lastcall(["inject", ...(seed === "" ? [] : ["--token-seed", seed])], { "-": text })).out);
    const firstToken = await readToken("s", POD);
    expect(firstToken).toMatch(/^[0-9a-f]{32}$/);
    expect(await readToken("s", POD.replace("image: b", "image: c"))).toBe(firstToken);
    expect(await readToken("t", POD)).not.toBe(firstToken);
    expect(await readToken("s", POD.replace("name: web", "name: api"))).not.toBe(firstToken);
    expect(await readToken("s", POD.replace("namespace: shop", "namespace: bank"))).not.toBe(firstToken);
    expect(await readToken("", POD)).not.toBe(firstToken);
  });

  test("is the same in every run without a seed, so that an unchanged manifest does not cause a rollout", async () => {
    const first = await lastcall(["inject"], { "-": POD });
    expect(await lastcall(["inject"], { "-": POD })).toEqual(first);
    expect(await lastcall(["diff"], { "-": POD })).toEqual(await lastcall(["diff"], { "-": POD }));
  });
});

describe("the command diff", () => {
  test("prints an absolute path as git does", async () => {
    const { out } = await lastcall(["diff", "-f", "/shop/web.yaml"], { "/shop/web.yaml": POD });
    expect(out.split("\n").slice(0, 2)).toEqual(["--- a/shop/web.yaml", "+++ b/shop/web.yaml"]);
  });

  test("shows exactly the changes of inject", async () => {
    const { status, out } = await lastcall(["diff", "-f", "web.yaml", "--token-seed", "s"], { "web.yaml": POD });
    expect(status).toBe(1);
    expect(out).toMatch(/^--- a\/web\.yaml\n\+\+\+ b\/web\.yaml\n@@ -3,7 \+3,\d+ @@\n metadata:\n {3}name: web\n/);
    expect(out).toContain("\n+  terminationGracePeriodSeconds: 100\n");
    expect(out).not.toMatch(/^-[^-]/m);
  });

  test("does not print a diff and exits with 0 if inject does not change the manifest", async () => {
    expect(await lastcall(["diff"], { "-": CONFIG_MAP })).toMatchObject({ status: 0, out: "" });
  });

  test.for<[string, readonly string[], string]>([
    ["a file that is not YAML", [], "a: b: c\n"],
    ["an unknown flag", ["--kube-verson=1.30"], POD],
    ["a configuration that does not exist", ["--config=nowhere.yaml"], POD],
  ])("exits with 2 for %s", async ([, flags, text]) => {
    const { status, out, err } = await lastcall(["diff", ...flags], { "-": text });
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(err).toMatch(/^error: /m);
  });

  test("prints one JSON object with --json", async () => {
    const { out, err } = await lastcall(["diff", "--json", "-f", "web.yaml"], { "web.yaml": POD });
    const report = JSON.parse(out);
    expect(report.diffs).toEqual([{ file: "web.yaml", diff: expect.stringContaining("+++ b/web.yaml") }]);
    expect(report.workloads).toHaveLength(1);
    expect(err).toBe("");
  });
});

describe("the command explain", () => {
  test("prints every setting with its origin, the grace period and the expected shutdown", async () => {
    const { status, out } = await lastcall(
      ["explain", "-f", "web.yaml", "--drain-timeout", "90s", "--deregistration-delay", "15s"],
      {
        "web.yaml": POD.replace("spec:", "  annotations: {lastcall.dev/quiet-period: 3s}\nspec:"),
      },
    );
    expect(status).toBe(0);
    expect(out).toContain(
      "Pod shop/web (web.yaml, document 1)\n  decision: injected native, grace 30 → 145 s, because",
    );
    for (const field of POLICY_FLAGS) expect(out).toContain(`\n    ${ANNOTATIONS[field].name} `);
    expect(out).toMatch(/^ {4}drain-timeout +90s +command line$/m);
    expect(out).toMatch(/^ {4}quiet-period +3s +pod web$/m);
    expect(out).toMatch(/^ {4}drain-delay +5s +default$/m);
    expect(out).toContain(
      "grace period: 145 s = 30 s app grace + 5 s drain delay + 15 s deregistration delay + 90 s drain timeout + 5 s margin\n",
    );
    expect(out).toContain("    20s   earliest end of the drain: when traffic has been absent for 3s;");
    expect(out).toContain("    110s  deadline:");
  });

  test("prints that requests can be lost only if nothing can disconnect the clients gracefully", async () => {
    const limitText = "one request per connection can be lost";
    const withoutDriver = await lastcall(["explain"], { "-": POD });
    expect(withoutDriver.out).toContain(limitText);
    const withDriver = await lastcall(["explain", "--driver", "http", "--drain-url", "http://127.0.0.1:8080/drain"], {
      "-": POD,
    });
    expect(withDriver.out).not.toContain(limitText);
    expect(withDriver.out).toContain("when traffic has been absent for 2s");
    const withCounter = await lastcall(["explain", "--driver", "http", "--active-url", "http://127.0.0.1:8080/n"], {
      "-": POD,
    });
    expect(withCounter.out).toContain("when the driver has counted no active request for 2s");
  });

  test("lists the containers that load the preload library, and the limit of that library", async () => {
    const { out } = await lastcall(["explain", "--preload", "http1", "--kube-version", "1.36"], { "-": POD });
    expect(out).toContain("  containers that load /lastcall-preload/lastcall-preload.so: app\n");
    expect(out).toContain("limit: The preload library adds Connection: close to the next HTTP/1.1 response");
    const result = await lastcall(["explain", "--preload", "http1", "--kube-version", "1.35"], { "-": POD });
    expect(result.out).not.toContain("  containers that load ");
    expect(result.out).toContain("requires image volumes of Kubernetes 1.36");
    expect(result.out).toContain("nothing can close a keep-alive connection");
  });

  test("prints each replaced preStop hook with the reason, also for an injected manifest", async () => {
    const hook = "    lifecycle: {preStop: {exec: {command: [nginx, -s, quit]}}}\n";
    const pod = POD.replace("image: b\n", `image: nginx:1.27\n${hook}`);
    const line = "  replaced preStop hook: exec of app: It sends SIGQUIT, the container's stop signal.\n";
    expect((await lastcall(["explain"], { "-": pod })).out).toContain(line);
    const injected = await lastcall(["inject"], { "-": pod });
    expect((await lastcall(["explain"], { "-": injected.out })).out).toContain(line);
    expect((await lastcall(["explain", "--prestop", "keep"], { "-": pod })).out).not.toContain("replaced preStop hook");
  });

  test("prints the reason if a Pod is skipped", async () => {
    const { status, out } = await lastcall(["explain"], { "-": JOB });
    expect(status).toBe(0);
    expect(out).toContain("decision: skipped (runs_to_completion): the Pod runs to completion");
  });

  test("prints one JSON object with --json", async () => {
    const { out } = await lastcall(["explain", "--json"], { "-": POD });
    const [workload] = JSON.parse(out).workloads;
    expect(workload.grace.seconds).toBe(100);
    expect(workload.values).toContainEqual({ name: "drain-delay", value: "5s", origin: "default" });
    expect(workload.timeline.at(-1)).toEqual({ atMs: 100_000, what: expect.stringContaining("killed") });
    expect(workload.holds).toEqual(["app (app)"]);
  });
});

describe("the help of lastcall", () => {
  test("lists every command and the exit statuses", async () => {
    const { status, out } = await lastcall(["--help"]);
    expect(status).toBe(0);
    for (const command of ["inject", "uninject", "diff", "explain", "webhook", "demo"])
      expect(out).toContain(`\n  ${command} `);
    expect(out).toContain("0 success, also with nothing to do; 1 error");
    expect(out).toContain("0 no difference, 1 differences, 2 error");
  });

  test("suggests the nearest command for an unknown command", async () => {
    const { status, err } = await lastcall(["injekt"]);
    expect(status).toBe(1);
    expect(err).toContain("Did you mean inject?");
  });
});
