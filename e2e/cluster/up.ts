/** Starts a cluster unless it is running. A start first removes the remains of a failed or killed start. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildContext, buildModule } from "../build/build-module.ts";
import { isAlive, type ProcessIdentity } from "../host/process-identity.ts";
import { describeHost } from "../host/this-host.ts";
import { type Check, PermanentFailure, waitUntil } from "../host/wait.ts";
import { importImages } from "../images/import-images.ts";
import { writePauseArchive } from "../images/pause-image.ts";
import { NODES } from "./addresses.ts";
import { listNodes, type NodeState, requestApi } from "./api-request.ts";
import { createCertificates } from "./certificates.ts";
import { makeCgroups } from "./cgroups.ts";
import { startComponent } from "./component.ts";
import { controllerManagerAndScheduler, etcdAndApiServer, type ProgramFolders } from "./control-plane.ts";
import { stopCluster } from "./down.ts";
import { connectHost, findHostConflict, openNamespaces, readLogTail } from "./namespaces.ts";
import { prepareNode } from "./node-programs.ts";
import { type ClusterRecord, type ClusterSettings, isRunning, readRecord, writeRecord } from "./record.ts";
import type { StateFolder } from "./state-folder.ts";

/** Exceeds the longest retry delay of a kubelet; a start takes about 5 s. */
const START_LIMIT_MS = 180_000;

export type UpOutcome = { readonly record: ClusterRecord; readonly wasRunning: boolean };

/** The caller must hold the lock. @throws if a cluster with other settings is running, or its network conflicts with the host's */
export async function ensureCluster(
  settings: ClusterSettings,
  state: StateFolder,
  buildContext: BuildContext,
): Promise<UpOutcome> {
  const { minor, proxyMode } = settings;
  const previous = readRecord(state.recordFile);
  if (previous !== undefined && previous.stage === "up" && isRunning(previous)) {
    if (previous.minor === minor && previous.proxyMode === proxyMode) return { record: previous, wasRunning: true };
    throw new Error(
      `A cluster of ${settingsText(previous)} is running. Run "npm run cluster -- down" before you start ${settingsText(settings)}.`,
    );
  }
  await stopCluster(state);
  const conflict = await findHostConflict();
  if (conflict !== undefined) throw new Error(`The cluster's network cannot be created: ${conflict}.`);
  const [kubernetes, containerd, etcd, pauseArchiveFile] = [
    (await buildModule(`kubernetes-${minor}`, buildContext)).binaries,
    (await buildModule("containerd", buildContext)).binaries,
    (await buildModule("etcd", buildContext)).binaries,
    writePauseArchive((await buildModule("pause", buildContext)).binaries, buildContext.cache, Date.now()),
  ];
  try {
    const record = await startCluster({
      settings,
      programs: { kubernetes, containerd, etcd },
      state,
      pauseArchiveFile,
      print: buildContext.print,
    });
    return { record, wasRunning: false };
  } catch (error) {
    saveLogs(state, buildContext.print);
    await stopCluster(state);
    throw error;
  }
}

function settingsText({ minor, proxyMode }: ClusterSettings): string {
  return `Kubernetes ${minor} with kube-proxy's mode ${proxyMode}`;
}

/** Moves the logs out of the cluster's folder, and replaces the logs of an earlier failure. */
function saveLogs(state: StateFolder, print: BuildContext["print"]): void {
  if (!existsSync(state.logFolder)) return;
  rmSync(state.failedLogFolder, { recursive: true, force: true });
  cpSync(state.logFolder, state.failedLogFolder, { recursive: true });
  print(`Saved the logs of the failed start in ${state.failedLogFolder}`);
}

type StartOptions = {
  readonly settings: ClusterSettings;
  readonly programs: ProgramFolders;
  readonly state: StateFolder;
  readonly pauseArchiveFile: string;
  readonly print: (line: string) => void;
};

async function startCluster({
  settings,
  programs,
  state,
  pauseArchiveFile,
  print,
}: StartOptions): Promise<ClusterRecord> {
  const startedMs = performance.now();
  const printTime = (line: string) => print(`${((performance.now() - startedMs) / 1000).toFixed(1)} s: ${line}`);
  prepareFolder(state);
  symlinkSync(join(programs.containerd, "ctr"), state.ctr);
  const [host] = await Promise.all([describeHost(programs.containerd), createCertificates(state.pkiFolder)]);
  const { outer, init, continueInit, detach } = await openNamespaces(state);
  const record: ClusterRecord = { ...settings, stage: "starting", binaries: programs.kubernetes, outer, init, host };
  writeRecord(state.recordFile, record);
  makeCgroups();
  await connectHost(init);
  continueInit();
  const whileInitRuns = <T>(check: Check<T>) => checkWhileInitRuns(init, state, check);
  await waitUntil({ condition: "the network is created", withinMs: 10_000, everyMs: 20 }, () =>
    whileInitRuns(() => (existsSync(join(state.startFolder, "open")) ? true : undefined)),
  );
  for (const component of etcdAndApiServer(programs, state)) startComponent(component, state);
  const nodes = NODES.map((node) => ({ node, ...prepareNode(node, programs, state, settings.proxyMode) }));
  for (const { runtime } of nodes) startComponent(runtime, state);
  await Promise.all(nodes.map(({ node }) => importImages([pauseArchiveFile], state.socketOf(node.name))));
  await waitUntil({ condition: "the API server is ready", withinMs: START_LIMIT_MS }, () =>
    whileInitRuns(async () => ((await requestApi("/readyz", state.pkiFolder)).status === 200 ? true : undefined)),
  );
  printTime("the API server is ready");
  for (const component of controllerManagerAndScheduler(programs, state)) startComponent(component, state);
  // A kubelet doubles its delay after each failed request, up to two minutes, so it starts only after the API server is ready.
  for (const agent of nodes.flatMap(({ agents }) => agents)) startComponent(agent, state);
  await waitForNodes(state, whileInitRuns);
  printTime(`nodes ${NODES.map(({ name }) => name).join(" and ")} are ready`);
  const runningRecord: ClusterRecord = { ...record, stage: "up" };
  writeRecord(state.recordFile, runningRecord);
  detach();
  return runningRecord;
}

function prepareFolder(state: StateFolder): void {
  mkdirSync(state.root, { recursive: true, mode: 0o700 });
  mkdirSync(state.startFolder, { recursive: true });
  mkdirSync(join(state.root, "etcd"), { mode: 0o700, recursive: true });
  writeFileSync(join(state.root, "resolv.conf"), "");
  // Node cannot create a named pipe.
  execFileSync("mkfifo", [join(state.startFolder, "queue")]);
}

type CheckWhileInitRuns = <T>(check: Check<T>) => Promise<T | undefined>;

/** Waits until Pods can be created: the nodes are ready and untainted, and the namespace has its ServiceAccount. */
async function waitForNodes(state: StateFolder, whileInitRuns: CheckWhileInitRuns): Promise<void> {
  await waitUntil({ condition: "both nodes are ready", withinMs: START_LIMIT_MS }, () =>
    whileInitRuns(async () => {
      const nodes = await listNodes(state.pkiFolder);
      const unreadyNodes = NODES.map(({ name }) => name).filter(
        (name) => !nodes.find((node) => node.name === name)?.ready,
      );
      if (unreadyNodes.length === 0) return true;
      throw new Error(unreadyNodes.map((name) => describeUnreadyNode(name, nodes, state)).join("\n"));
    }),
  );
  await waitUntil({ condition: "the namespace default has a ServiceAccount", withinMs: START_LIMIT_MS }, () =>
    whileInitRuns(async () => {
      const { status } = await requestApi("/api/v1/namespaces/default/serviceaccounts/default", state.pkiFolder);
      return status === 200 ? true : undefined;
    }),
  );
}

function describeUnreadyNode(name: string, nodes: readonly NodeState[], state: StateFolder): string {
  const why = nodes.find((node) => node.name === name)?.why ?? "the node has not registered";
  return `${name} is not ready: ${why}. The kubelet's log ends with:\n${readLogTail(state, `kubelet-${name}`)}`;
}

/** Runs the check. @throws if PID 1 of the namespaces has ended, which stops the wait */
async function checkWhileInitRuns<T>(
  init: ProcessIdentity,
  state: StateFolder,
  check: Check<T>,
): Promise<T | undefined> {
  if (!isAlive(init)) throw new PermanentFailure(`The cluster's first process ended: ${readLogTail(state)}`);
  return check();
}
