/** Sets up a Pod network and the upstream inside the namespaces of this process, and starts injected Pods there. */
import { readFileSync } from "node:fs";
import { realClock } from "../../../src/demo/clock.ts";
import { createNamespaceNetwork } from "../../../src/demo/network/namespace-network.ts";
import type { PodNetwork } from "../../../src/demo/network/pod-network.ts";
import { createPodRunner } from "../../../src/demo/pods/pod-runner.ts";
import type { ProcessTable } from "../../../src/demo/pods/process-table.ts";
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { injectedPodOf } from "../../injection/injector-inputs.ts";

export type Testbed = {
  readonly network: PodNetwork;
  readonly upstream: string;
  readonly startPod: (pod: object, managerProgram: readonly string[]) => Promise<TestPod>;
};

export type TestPod = {
  readonly pod: RunningPod;
  readonly kill: () => Promise<void>;
  /** Peak resident memory of the manager in KiB; 0 after its exit. */
  readonly managerPeakKib: () => number;
  /** Milliseconds that the manager and Envoy's main thread, which serves its admin interface, waited for a processor. */
  readonly waitedMs: () => number;
};

const UPSTREAM_PROGRAM = new URL("./upstream.ts", import.meta.url).pathname;

export async function createTestbed(processes: ProcessTable): Promise<Testbed> {
  const network = await createNamespaceNetwork();
  const upstream = network.kubeletAddress;
  const environment = { PATH: process.env["PATH"] ?? "" };
  await new Promise<void>((ready, failed) => {
    const upstreamProcess = processes.start({
      argv: [process.execPath, UPSTREAM_PROGRAM],
      environment: { ...environment, LISTEN_ON: upstream },
      onLine: (line) => (line === "ready" ? ready() : process.stderr.write(`upstream: ${line}\n`)),
    });
    void upstreamProcess.exited.then((status) => failed(new Error(`the upstream ended with ${status}`)));
  });
  return {
    network,
    upstream,
    startPod: async (manifest, managerProgram) => {
      const pids = { manager: 0, envoy: 0 };
      const runner = createPodRunner({
        clock: realClock,
        network,
        processes: observeStarts(processes, (pid, argv) => {
          if (argv.includes("serve")) pids.manager = pid;
          if (argv.includes("--drain-time-s")) pids.envoy = pid;
        }),
        managerProgram,
        preloadLibrary: "",
        imageEnvironment: environment,
        onEvent: () => {},
      });
      const pod = await runner.start(injectedPodOf(manifest));
      return {
        pod,
        kill: runner.close,
        managerPeakKib: () => readPeakKib(pids.manager),
        waitedMs: () => readWaitedMs(pids.manager) + readWaitedMs(pids.envoy),
      };
    },
  };
}

function observeStarts(processes: ProcessTable, onStart: (pid: number, argv: readonly string[]) => void): ProcessTable {
  return {
    ...processes,
    start: (request) => {
      const localProcess = processes.start(request);
      onStart(localProcess.pid, request.argv);
      return localProcess;
    },
  };
}

function readPeakKib(pid: number): number {
  return Number(/^VmHWM:\s+([0-9]+) kB$/m.exec(readText(`/proc/${pid}/status`))?.[1] ?? "0");
}

function readWaitedMs(pid: number): number {
  return Number(readText(`/proc/${pid}/task/${pid}/schedstat`).split(" ")[1] ?? "0") / 1e6;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
