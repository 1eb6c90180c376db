/** Tests workloads of other projects, whose Pod templates are found by shape or by --template-path. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lastcall } from "./run-lastcall.ts";

const FOLDER = join(import.meta.dirname, "kinds");
const files = readdirSync(FOLDER).filter((file) => file.endsWith(".yaml"));

function readText(file: string): string {
  return readFileSync(join(FOLDER, file), "utf8");
}

describe.for(files)("the manifest %s", (file) => {
  const text = readText(file);

  test("is injected and reported as in the golden file of the kind", async () => {
    const { out, err } = await lastcall(["inject", "--token-seed", "seed"], { "-": text });
    const record = `# ${err.trimEnd().replaceAll("\n", "\n# ")}\n${out === text ? "" : out}`;
    await expect(record).toMatchFileSnapshot(join(FOLDER, file.replace(/yaml$/, "injected")));
  });

  test("is restored byte for byte by uninject, which is idempotent", async () => {
    const result = await lastcall(["inject"], { "-": text });
    expect((await lastcall(["inject"], { "-": result.out })).out).toBe(result.out);
    expect((await lastcall(["uninject"], { "-": result.out })).out).toBe(text);
  });
});

describe("an object with several Pod templates", () => {
  const text = readText("leader-worker-set.yaml");

  test("is explained for each template", async () => {
    const { out } = await lastcall(["explain"], { "-": text });
    expect(out).toMatch(/^LeaderWorkerSet models\/llm, spec\.leaderWorkerTemplate\.leaderTemplate \(standard input/m);
    expect(out).toMatch(/^LeaderWorkerSet models\/llm, spec\.leaderWorkerTemplate\.workerTemplate \(standard input/m);
  });

  test("gets a separate hook token for each template", async () => {
    const { out } = await lastcall(["inject", "--token-seed", "seed"], { "-": text });
    const tokens = new Set([...out.matchAll(/\b[0-9a-f]{32}\b/g)].map(([token]) => token));
    expect(tokens.size).toBe(2);
  });
});

describe("a restart policy outside of the Pod template", () => {
  const text = readText("pytorch-job.yaml");

  test.for(["OnFailure", "Never", "ExitCode"])(
    "with the value %s means that the Pods run to completion",
    async (policy) => {
      const { status, err } = await lastcall(["inject"], { "-": text.replaceAll("OnFailure", policy) });
      expect(status).toBe(0);
      expect(err.match(/skipped \(runs_to_completion\)/g)).toHaveLength(2);
    },
  );

  test("is not moved into the template by inject", async () => {
    const withTemplatePolicy = text.replaceAll(
      "        spec:\n",
      "        metadata: {annotations: {lastcall.dev/inject: enabled}}\n        spec:\n",
    );
    const { status, out } = await lastcall(["inject"], { "-": withTemplatePolicy });
    expect(status).toBe(0);
    expect(out.match(/restartPolicy: OnFailure/g)).toHaveLength(2);
    expect((await lastcall(["uninject"], { "-": out })).out).toBe(withTemplatePolicy);
  });
});

describe("the flag --template-path", () => {
  const createWidget = (kind: string) =>
    `apiVersion: example.com/v1\nkind: ${kind}\nmetadata: {name: w}\nspec:\n  workers:\n` +
    ["a", "b"].map((name) => `  - pod:\n      spec:\n        containers: [{name: ${name}, image: i}]\n`).join("");

  test("is suggested in the warning about a field that looks like a Pod", async () => {
    const { status, out, err } = await lastcall(["inject"], { "-": createWidget("Widget") });
    expect({ status, out }).toEqual({ status: 0, out: createWidget("Widget") });
    expect(err).toContain(
      "warning: standard input, document 1: spec.workers[1].pod.spec of this Widget has the shape of a Pod, but is not in a " +
        "known Pod template; left unchanged (pass --template-path Widget.example.com=spec.workers[1].pod to inject it)",
    );
  });

  test.for([
    "spec.workers[].pod",
    "spec.workers.*.pod",
    "Widget=spec.workers[*].pod",
    "Widget.example.com=spec.workers[].pod",
  ])("with %s injects every item, and uninject restores the manifest", async (path) => {
    const text = createWidget("Widget");
    const result = await lastcall(["inject", "--template-path", path], { "-": text });
    expect(result.err.match(/injected native/g)).toHaveLength(2);
    expect(result.err).not.toContain("warning");
    expect((await lastcall(["uninject", "--template-path", path], { "-": result.out })).out).toBe(text);
  });

  test("injects a kind that is skipped otherwise", async () => {
    const text = readText("left-alone.yaml").replace("- image: shop/hello:1", "- {name: app, image: shop/hello:1}");
    const { err } = await lastcall(["inject", "--template-path", "Service.serving.knative.dev=spec.template"], {
      "-": text,
    });
    expect(err).toContain("Service default/hello: injected native");
    expect(err).not.toContain("this Service");
  });

  test.for(["Gadget=spec.workers[].pod", "Widget.other.example=spec.workers[].pod", "spec.worker[].pod"])(
    "with %s causes a warning if no field matches",
    async (path) => {
      const { status, err } = await lastcall(["inject", "--template-path", path], { "-": createWidget("Widget") });
      expect(status).toBe(0);
      expect(err).toContain(`warning: --template-path ${path}: no object of the input has a mapping at this path`);
    },
  );

  test("selects the outer of two nested paths", async () => {
    const paths = ["--template-path", "spec.workers[0].pod", "--template-path", "spec.workers[].pod.spec"];
    const { err } = await lastcall(["inject", ...paths], { "-": createWidget("Widget") });
    expect(err).toContain("Widget default/w, spec.workers[0].pod: injected native");
    expect(err).toContain("Widget default/w, spec.workers[1].pod.spec: skipped (invalid_pod)");
  });

  test.for(["", "a b", "spec..pod", "=spec", "A=B=c", "spec[x]"])('rejects the path "%s"', async (path) => {
    const { status, err } = await lastcall(["inject", "--template-path", path], { "-": createWidget("Widget") });
    expect(status).toBe(1);
    expect(err).toContain("expected a path such as spec.workers[].pod or Kind=spec.pod");
  });
});
