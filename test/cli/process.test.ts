/** The program as a person runs it: real files, pipes and exit statuses. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const PROGRAM = join(import.meta.dirname, "../../src/lastcall.ts");
const POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n";
const LIMIT_MS = 60_000;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lastcall-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Ended = { readonly status: number | null; readonly out: string; readonly err: string };

function run(args: readonly string[], input: string, readerLeaves = false): Promise<Ended> {
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
    if (readerLeaves) child.stdout.destroy();
    child.stdin.end(input);
  });
}

describe("the program", { timeout: LIMIT_MS }, () => {
  test("injects what comes through a pipe, and gives it back through another", async () => {
    const once = await run(["inject"], POD);
    expect(once.status, once.err).toBe(0);
    expect(once.err).toBe("Pod default/web: injected native, grace 30 → 100 s\n");
    expect(await run(["uninject", "-f", "-"], once.out)).toEqual({
      status: 0,
      out: POD,
      err: "Pod default/web: uninjected\n",
    });
  });

  test("finds the manifests of a folder in name order, with those below, and no other file", async () => {
    mkdirSync(join(folder, "k8s/aa"), { recursive: true });
    writeFileSync(join(folder, "k8s/b.yml"), "kind: B\n");
    writeFileSync(join(folder, "k8s/a.json"), '{"kind": "A"}\n');
    writeFileSync(join(folder, "k8s/aa/c.yaml"), "kind: C\n");
    writeFileSync(join(folder, "k8s/notes.txt"), "a: b: c");
    expect(await run(["inject", "-f", "k8s"], "")).toEqual({
      status: 2,
      out: '{"kind": "A"}\n---\nkind: C\n---\nkind: B\n',
      err: "",
    });
  });

  test("names a file that is not there, and a folder without manifests", async () => {
    mkdirSync(join(folder, "empty"));
    const { status, out, err } = await run(["inject", "-f", "gone.yaml", "-f", "empty"], "");
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toBe(
      "error: gone.yaml: there is no such file or folder\nerror: empty: the folder holds no *.yaml, *.yml or *.json file\n",
    );
  });

  test("ends quietly when its reader has seen enough", async () => {
    const many = Array.from({ length: 400 }, () => POD).join("---\n");
    const { status, err } = await run(["inject"], many, true);
    expect(status).toBe(0);
    expect(err).not.toContain("EPIPE");
  });

  test("makes another token every time it runs", async () => {
    const [first, second] = await Promise.all([run(["inject"], POD), run(["inject"], POD)]);
    expect(first.out).not.toBe(second.out);
    const withoutToken = ({ out }: Ended): string => out.replaceAll(/'?[0-9a-f]{32}'?/g, "");
    expect(withoutToken(first)).toBe(withoutToken(second));
  });
});
