/**
 * Starts a real API server with etcd, without nodes and controllers. It validates the chart's objects, evaluates their CEL
 * expressions and calls the webhook. All programs end with the process that started them.
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
import { buildPrograms } from "./helm-binary.ts";
import { at, CHART, type HelmResult, removeInfoLines, type Values } from "./rendering.ts";

export type ApiResponse = {
  readonly status: number;
  readonly body: unknown;
  /** Texts of the `Warning` headers, which kubectl prints. */
  readonly warnings: readonly string[];
};

export type ApiServer = {
  /** Sends a request as the impersonated user; the default is an administrator. */
  readonly send: (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    impersonatedUser?: string,
  ) => Promise<ApiResponse>;
  /** Path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Writes a kubeconfig of this ServiceAccount in the release's namespace, and returns its path. */
  readonly kubeconfigOf: (account: string) => Promise<string>;
  /** Runs Helm in namespace `lastcall`, on the release `lastcall` unless another is named. */
  readonly helm: (
    command: "install" | "upgrade" | "rollback" | "uninstall",
    values?: Values,
    args?: readonly string[],
    release?: string,
  ) => Promise<HelmResult>;
  readonly stop: () => Promise<void>;
};

export async function startApiServer(): Promise<ApiServer> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-chart-"));
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const token = randomUUID();
  const programs = findPrograms();
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const keyFlags = writeKeyFiles(folder, token);
  const children = [
    startProgram(folder, programs.etcd, [
      `--data-dir=${join(folder, "etcd")}`,
      "--unsafe-no-fsync",
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    ]),
    startProgram(folder, programs.apiServer, [
      `--etcd-servers=${etcdUrl}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${join(folder, "serving")}`,
      // Services get loopback addresses, so that a process of the test can listen on the address of a Service.
      "--service-cluster-ip-range=127.96.0.0/24",
      "--endpoint-reconciler-type=none",
      "--authorization-mode=RBAC",
      ...keyFlags,
      "--service-account-issuer=https://kubernetes.default.svc",
      // This plugin would reject all Pods, because the default ServiceAccounts do not exist without a controller.
      "--disable-admission-plugins=ServiceAccount",
    ]),
  ];
  const send: ApiServer["send"] = (method, path, body, impersonatedUser) =>
    sendRequest({ port, token, method, path, body, impersonatedUser });
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(killProgram));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitUntilReady(send, children, folder);
  } catch (error) {
    await stop();
    throw error;
  }
  const kubeconfigOf = async (account: string): Promise<string> => {
    const path = `/api/v1/namespaces/lastcall/serviceaccounts/${account}/token`;
    const tokenRequest = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 7200 },
    };
    const { body } = await send("POST", path, tokenRequest);
    const file = join(folder, `${account}.json`);
    writeFileSync(file, JSON.stringify(kubeconfig(port, String(at(body, "status", "token")))));
    return file;
  };
  const administratorKubeconfig = join(folder, "administrator.json");
  writeFileSync(administratorKubeconfig, JSON.stringify(kubeconfig(port, token)));
  return { send, kubeconfig: administratorKubeconfig, kubeconfigOf, helm: createHelmRunner(port, token, folder), stop };
}

/** Starts a program that the kernel kills when this process ends, even by SIGKILL. */
export function startProgram(folder: string, program: string, args: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${program.split("/").at(-1)}.log`), "a");
  return spawn("setpriv", ["--pdeathsig", "KILL", program, ...args], { stdio: ["ignore", log, log] });
}

export async function killProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string")
    throw new Error("cannot get a free port: the listener on 127.0.0.1:0 has no port");
  return address.port;
}

type Programs = { readonly etcd: string; readonly apiServer: string };

/** Returns the programs of LASTCALL_ETCD and LASTCALL_KUBE_APISERVER, or builds the pinned versions once, which takes minutes. */
function findPrograms(): Programs {
  const configured = { etcd: process.env["LASTCALL_ETCD"], apiServer: process.env["LASTCALL_KUBE_APISERVER"] };
  if (configured.etcd !== undefined && configured.apiServer !== undefined)
    return { etcd: configured.etcd, apiServer: configured.apiServer };
  const [etcd = "", kubernetes = ""] = buildPrograms("etcd", "kubernetes-1.37");
  return { etcd: join(etcd, "etcd"), apiServer: join(kubernetes, "kube-apiserver") };
}

function writeKeyFiles(folder: string, token: string): readonly string[] {
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

async function waitUntilReady(
  send: ApiServer["send"],
  children: readonly ChildProcess[],
  folder: string,
): Promise<void> {
  const endMs = Date.now() + 300_000;
  while (Date.now() < endMs) {
    if (children.some((child) => child.exitCode !== null)) break;
    const response = await send("GET", "/readyz").catch(() => undefined);
    if (response?.status === 200) return;
    await pause(250, "the API server is starting");
  }
  const log = readFileSync(join(folder, "kube-apiserver.log"), "utf8");
  throw new Error(`the API server did not become ready; the end of its log: ${log.slice(-2000)}`);
}

function kubeconfig(port: number, token: string): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "local", cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } }],
    users: [{ name: "test", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "local", user: "test" } }],
    "current-context": "test",
  };
}

function createHelmRunner(port: number, token: string, folder: string): ApiServer["helm"] {
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, KUBECONFIG: "/dev/null" };
  const serverFlags = [
    `--kube-apiserver=https://127.0.0.1:${port}`,
    `--kube-token=${token}`,
    "--kube-insecure-skip-tls-verify",
  ];
  return (command, values, args = [], release = "lastcall") => {
    // The self-test does not create its Pod, because the Pod could not start without a node.
    const chartArgs =
      command === "install" || command === "upgrade"
        ? [CHART, "-f", "-", "--set", "image.allowEmptyRegistry=true,selfTest.startsPod=false"]
        : [];
    const helmArgs = [command, release, ...chartArgs, "--namespace=lastcall", ...serverFlags, ...args];
    return new Promise((resolve) => {
      const helmProcess = execFile(inject("helm"), helmArgs, { env, encoding: "utf8" }, (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr: removeInfoLines(stderr) });
      });
      helmProcess.stdin?.end(JSON.stringify(values ?? {}));
    });
  };
}

type ServerRequest = {
  readonly port: number;
  readonly token: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly impersonatedUser: string | undefined;
};

async function sendRequest({ port, token, method, path, body, impersonatedUser }: ServerRequest): Promise<ApiResponse> {
  const patchType = Array.isArray(body) ? "application/json-patch+json" : "application/merge-patch+json";
  const headers = {
    authorization: `Bearer ${token}`,
    ...(impersonatedUser === undefined ? {} : { "impersonate-user": impersonatedUser }),
    ...(body === undefined ? {} : { "content-type": method === "PATCH" ? patchType : "application/json" }),
  };
  const { status, text, warnings } = await sendHttps({ host: "127.0.0.1", port, path, method, headers }, body);
  return { status, body: text.startsWith("{") ? JSON.parse(text) : text, warnings };
}

/** Sends one request over TLS without verifying the certificate. */
export function sendHttps(
  options: RequestOptions,
  body?: unknown,
): Promise<Pick<ApiResponse, "status" | "warnings"> & { readonly text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, rejectUnauthorized: false, timeout: 60_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const warnings = (response.headersDistinct["warning"] ?? []).map((line) => line.replace(/^299 - /, ""));
        resolve({ status: response.statusCode ?? 0, text, warnings });
      });
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no response within 60 s")));
    outgoing.on("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
