/**
 * A real API server with its store, without nodes and controllers. It validates the chart's objects, runs
 * their expressions and calls the webhook. All programs end with the process that started them.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type RequestOptions, request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { pause } from "../time/pause.ts";
import { builtFolders } from "./helm-binary.ts";
import { at, CHART, complaintsIn, type Helm, type Values } from "./rendering.ts";

export type Answer = {
  readonly status: number;
  readonly body: unknown;
  /** The warnings that kubectl would print. */
  readonly warnings: readonly string[];
};

export type ApiServer = {
  /** `as` is the impersonated user; without it the request is an administrator's. */
  readonly ask: (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    as?: string,
  ) => Promise<Answer>;
  /** A kubeconfig of an administrator. */
  readonly kubeconfig: string;
  /** A kubeconfig of this account in the release's namespace. */
  readonly kubeconfigOf: (account: string) => Promise<string>;
  /** Runs Helm in namespace `lastcall`, on the release `lastcall` unless another is named. */
  readonly helm: (
    command: "install" | "upgrade" | "rollback" | "uninstall",
    values?: Values,
    args?: readonly string[],
    release?: string,
  ) => Promise<Helm>;
  readonly stop: () => Promise<void>;
};

export async function startApiServer(): Promise<ApiServer> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-chart-"));
  const [storePort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const token = randomUUID();
  const programs = findPrograms();
  const store = `http://127.0.0.1:${storePort}`;
  const keys = writeKeys(folder, token);
  const children = [
    start(folder, programs.etcd, [
      `--data-dir=${join(folder, "etcd")}`,
      "--unsafe-no-fsync",
      `--listen-client-urls=${store}`,
      `--advertise-client-urls=${store}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    ]),
    start(folder, programs.apiServer, [
      `--etcd-servers=${store}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${join(folder, "serving")}`,
      // Services get loopback addresses, so that a process of the test can serve one.
      "--service-cluster-ip-range=127.96.0.0/24",
      "--endpoint-reconciler-type=none",
      "--authorization-mode=RBAC",
      ...keys,
      "--service-account-issuer=https://kubernetes.default.svc",
      // Without a controller there are no service accounts, and Pods would be refused.
      "--disable-admission-plugins=ServiceAccount",
    ]),
  ];
  const ask: ApiServer["ask"] = (method, path, body, as) => askServer({ port, token, method, path, body, as });
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(end));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(ask, children, folder);
  } catch (error) {
    await stop();
    throw error;
  }
  const kubeconfigOf = async (account: string): Promise<string> => {
    const path = `/api/v1/namespaces/lastcall/serviceaccounts/${account}/token`;
    const kind = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 7200 } };
    const { body } = await ask("POST", path, kind);
    const file = join(folder, `${account}.json`);
    writeFileSync(file, JSON.stringify(kubeconfig(port, String(at(body, "status", "token")))));
    return file;
  };
  const administrator = join(folder, "administrator.json");
  writeFileSync(administrator, JSON.stringify(kubeconfig(port, token)));
  return { ask, kubeconfig: administrator, kubeconfigOf, helm: helmFor(port, token, folder), stop };
}

/** Starts a program that ends with this process, even if that is killed. */
export function start(folder: string, program: string, args: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${program.split("/").at(-1)}.log`), "a");
  return spawn("setpriv", ["--pdeathsig", "KILL", program, ...args], { stdio: ["ignore", log, log] });
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("there is no free port");
  return address.port;
}

type Programs = { readonly etcd: string; readonly apiServer: string };

/** Returns the programs of LASTCALL_ETCD and LASTCALL_KUBE_APISERVER, or builds the pinned versions once, in minutes. */
function findPrograms(): Programs {
  const named = { etcd: process.env["LASTCALL_ETCD"], apiServer: process.env["LASTCALL_KUBE_APISERVER"] };
  if (named.etcd !== undefined && named.apiServer !== undefined)
    return { etcd: named.etcd, apiServer: named.apiServer };
  const [etcd = "", kubernetes = ""] = builtFolders("etcd", "kubernetes-1.37");
  return { etcd: join(etcd, "etcd"), apiServer: join(kubernetes, "kube-apiserver") };
}

function writeKeys(folder: string, token: string): readonly string[] {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const file = (name: string, text: string | Buffer): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  return [
    `--token-auth-file=${file("tokens.csv", `${token},admin,1,system:masters\n`)}`,
    `--service-account-key-file=${file("accounts.pub", publicKey.export({ type: "spki", format: "pem" }))}`,
    `--service-account-signing-key-file=${file("accounts.key", privateKey.export({ type: "pkcs8", format: "pem" }))}`,
  ];
}

async function untilReady(ask: ApiServer["ask"], children: readonly ChildProcess[], folder: string): Promise<void> {
  const endMs = Date.now() + 300_000;
  while (Date.now() < endMs) {
    if (children.some((child) => child.exitCode !== null)) break;
    const answer = await ask("GET", "/readyz").catch(() => undefined);
    if (answer?.status === 200) return;
    await pause(250, "the API server takes its time to start");
  }
  const log = readFileSync(join(folder, "kube-apiserver.log"), "utf8");
  throw new Error(`The API server did not come up: ${log.slice(-2000)}`);
}

function kubeconfig(port: number, token: string): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "here", cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } }],
    users: [{ name: "it", user: { token } }],
    contexts: [{ name: "it", context: { cluster: "here", user: "it" } }],
    "current-context": "it",
  };
}

function helmFor(port: number, token: string, folder: string): ApiServer["helm"] {
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, KUBECONFIG: "/dev/null" };
  const server = [
    `--kube-apiserver=https://127.0.0.1:${port}`,
    `--kube-token=${token}`,
    "--kube-insecure-skip-tls-verify",
  ];
  return (command, values, args = [], release = "lastcall") => {
    // Without nodes the self-test's Pod would not start.
    const chart =
      command === "install" || command === "upgrade"
        ? [CHART, "-f", "-", "--set", "image.allowEmptyRegistry=true,selfTest.startsPod=false"]
        : [];
    const words = [command, release, ...chart, "--namespace=lastcall", ...server, ...args];
    return new Promise((resolve) => {
      const run = execFile(inject("helm"), words, { env, encoding: "utf8" }, (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr: complaintsIn(stderr) });
      });
      run.stdin?.end(JSON.stringify(values ?? {}));
    });
  };
}

type ServerRequest = {
  readonly port: number;
  readonly token: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly as: string | undefined;
};

async function askServer({ port, token, method, path, body, as }: ServerRequest): Promise<Answer> {
  const type = Array.isArray(body) ? "application/json-patch+json" : "application/merge-patch+json";
  const headers = {
    authorization: `Bearer ${token}`,
    ...(as === undefined ? {} : { "impersonate-user": as }),
    ...(body === undefined ? {} : { "content-type": method === "PATCH" ? type : "application/json" }),
  };
  const { status, text, warnings } = await exchange({ host: "127.0.0.1", port, path, method, headers }, body);
  return { status, body: text.startsWith("{") ? JSON.parse(text) : text, warnings };
}

/** Sends one request over TLS without verifying the certificate. */
export function exchange(
  options: RequestOptions,
  body?: unknown,
): Promise<Pick<Answer, "status" | "warnings"> & { readonly text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, rejectUnauthorized: false, timeout: 60_000 }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const warnings = (answer.headersDistinct["warning"] ?? []).map((line) => line.replace(/^299 - /, ""));
        resolve({ status: answer.statusCode ?? 0, text, warnings });
      });
    });
    sent.on("timeout", () => sent.destroy(new Error("no answer within 60 s")));
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
