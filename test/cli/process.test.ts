/** Tests the program as a child process with real files, pipes and exit statuses. */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const PROGRAM = join(import.meta.dirname, "../../src/lastcall.ts");
const POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n";
const LIMIT_MS = 180_000;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lastcall-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type ProcessResult = { readonly status: number | null; readonly out: string; readonly err: string };

function runProgram(args: readonly string[], input: string, closesOutput = false): Promise<ProcessResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, timeout: LIMIT_MS });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, out, err }));
    if (closesOutput) child.stdout.destroy();
    child.stdin.end(input);
  });
}

describe("the program lastcall", { timeout: LIMIT_MS }, () => {
  test("injects and uninjects through pipes", async () => {
    const result = await runProgram(["inject"], POD);
    expect(result.status, result.err).toBe(0);
    expect(result.err).toBe("Pod default/web: injected native, grace 30 → 100 s\n");
    expect(await runProgram(["uninject", "-f", "-"], result.out)).toEqual({
      status: 0,
      out: POD,
      err: "Pod default/web: uninjected\n",
    });
  });

  test("reads the manifests of a folder recursively in name order", async () => {
    mkdirSync(join(folder, "k8s/aa"), { recursive: true });
    writeFileSync(join(folder, "k8s/b.yml"), "kind: B\n");
    writeFileSync(join(folder, "k8s/a.json"), '{"kind": "A"}\n');
    writeFileSync(join(folder, "k8s/aa/c.yaml"), "kind: C\n");
    writeFileSync(join(folder, "k8s/notes.txt"), "a: b: c");
    expect(await runProgram(["inject", "-f", "k8s"], "")).toEqual({
      status: 0,
      out: '{"kind": "A"}\n---\nkind: C\n---\nkind: B\n',
      err: "nothing to do: no Pods or workloads found in k8s\n",
    });
  });

  test("reads symbolic links to files, and does not follow links to folders", async () => {
    mkdirSync(join(folder, "k8s"));
    writeFileSync(join(folder, "pod.yaml"), POD);
    symlinkSync("../pod.yaml", join(folder, "k8s/linked.yaml"));
    symlinkSync("../k8s", join(folder, "k8s/again"));
    const { status, err } = await runProgram(["inject", "-f", "k8s"], "");
    expect({ status, err }).toEqual({ status: 0, err: "Pod default/web: injected native, grace 30 → 100 s\n" });
  });

  test("reports a dangling symbolic link, and reads the other files of the folder", async () => {
    mkdirSync(join(folder, "k8s"));
    writeFileSync(join(folder, "k8s/pod.yaml"), POD);
    symlinkSync("nowhere", join(folder, "k8s/dangling.yaml"));
    const { status, err } = await runProgram(["inject", "-f", "k8s"], "");
    expect(status).toBe(1);
    expect(err).toContain("error: k8s/dangling.yaml: no such file or directory\n");
    expect(err).toContain("Pod default/web: injected native");
  });

  test("reports that its output cannot be written", async () => {
    const fullDevice = openSync("/dev/full", "w");
    const child = spawn(process.execPath, [PROGRAM, "inject"], {
      stdio: ["pipe", fullDevice, "pipe"],
      timeout: LIMIT_MS,
    });
    let err = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    child.stdin?.end(POD);
    const status = await new Promise((resolve) => child.on("close", resolve));
    closeSync(fullDevice);
    expect(status).toBe(1);
    expect(err).toContain("error: standard output cannot be written: ENOSPC");
    expect(err).not.toContain("    at ");
  });

  test("reports a missing file, and a folder without manifests", async () => {
    mkdirSync(join(folder, "empty"));
    const { status, out, err } = await runProgram(["inject", "-f", "gone.yaml", "-f", "empty"], "");
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toBe(
      "error: gone.yaml: no such file or directory\nerror: empty: the folder contains no *.yaml, *.yml or *.json file\n",
    );
  });

  test("exits without an error if the reader of its standard output exits", async () => {
    const manyPods = Array.from({ length: 400 }, () => POD).join("---\n");
    const { status, err } = await runProgram(["inject"], manyPods, true);
    expect(status).toBe(0);
    expect(err).not.toContain("EPIPE");
  });

  test("has the same exit status without a reader of standard error", async () => {
    const child = spawn(process.execPath, [PROGRAM, "inject"], { timeout: LIMIT_MS });
    child.stderr.destroy();
    child.stdout.resume();
    child.stdin.end(POD);
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
  });

  test("prints its version", async () => {
    expect(await runProgram(["--version"], "")).toEqual({ status: 0, out: "0.1.0\n", err: "" });
  });

  test("prints the same bytes for the same input", async () => {
    const [first, second] = await Promise.all([runProgram(["inject"], POD), runProgram(["inject"], POD)]);
    expect(first.out).toContain("lastcall");
    expect(first.out).toBe(second.out);
  });
});
