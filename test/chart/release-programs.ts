/** Runs the programs of an installed release with the account and the flags of the chart. */
import { type ChildProcess, execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiServer, freePort, startProgram } from "./api-server.ts";
import { expandArgs } from "./kubelet-arguments.ts";
import { at } from "./rendering.ts";

const PROGRAM = join(import.meta.dirname, "../../src/lastcall.ts");
const SERVICE = "/api/v1/namespaces/lastcall/services/lastcall-webhook";
const CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/drain.lastcall.dev";

/** The relay port of the Service, on which the started server listens directly. */
const RELAY_PORT = 8_444;

/** Whether this process may listen on port 443. Otherwise the test changes the Service's port, and each upgrade resets it. */
export const HAS_LOW_PORTS = process.getuid?.() === 0;

/** Starts the webhook server on the Service's address; its log is `node.log` in the folder. */
export async function startWebhook(api: ApiServer, folder: string): Promise<ChildProcess> {
  const port = HAS_LOW_PORTS ? 443 : await changeServicePort(api);
  const read = async (path: string): Promise<unknown> => (await api.send("GET", path)).body;
  const deployment = await read("/apis/apps/v1/namespaces/lastcall/deployments/lastcall-webhook");
  const config = await read("/api/v1/namespaces/lastcall/configmaps/lastcall-config");
  const configFile = join(folder, "config.yaml");
  writeFileSync(configFile, String(at(config, "data", "config.yaml")));
  const address = String(at(await read(SERVICE), "spec", "clusterIP"));
  // The server derives the relay's address for Pods from the variables of its own Service.
  const service = { name: "lastcall-webhook", address, ports: { https: port, relay: RELAY_PORT } };
  const flags = expandArgs(at(deployment, "spec", "template", "spec"), [service]);
  const account = await api.kubeconfigOf("lastcall-webhook");
  // The arguments below replace these flags by flags with ports and paths of this host.
  const replacedFlags = /^--(port|relay-port|config|admin-port)=/;
  return startProgram(folder, process.execPath, [
    ...[PROGRAM, ...flags.filter((flag) => !replacedFlags.test(flag))],
    ...[
      `--port=${port}`,
      `--relay-port=${RELAY_PORT}`,
      `--config=${configFile}`,
      `--host=${address}`,
      `--kubeconfig=${account}`,
    ],
    `--admin-port=${await freePort()}`,
  ]);
}

async function changeServicePort(api: ApiServer): Promise<number> {
  const port = await freePort();
  await api.send("PATCH", SERVICE, [{ op: "replace", path: "/spec/ports/0/port", value: port }]);
  const paths = [0, 1].map((index) => `/webhooks/${index}/clientConfig/service/port`);
  await api.send(
    "PATCH",
    CONFIGURATION,
    paths.map((path) => ({ op: "replace", path, value: port })),
  );
  return port;
}

export type ProgramResult = { readonly status: number; readonly stdout: string; readonly stderr: string };

export function runSelfTest(args: readonly string[], kubeconfig: string): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const programArgs = [PROGRAM, "self-test", ...args, `--kubeconfig=${kubeconfig}`];
    execFile(process.execPath, programArgs, { encoding: "utf8" }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}
