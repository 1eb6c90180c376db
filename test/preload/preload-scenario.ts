/** Runs a process with the preload library, a fake manager that sends the shared memory page, and clients. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { buildPreload, type ProcessorName } from "../../native/build/preload.ts";
import { eventually } from "../time/eventually.ts";

export const CLOSE_HEADER = "Connection: close\r\n";
export const MODES = { wait: "0", close: "1", off: "2" } as const;

/** Free in every test, because each test has its own address. */
export const PORT = 8080;
const OTHER_PORT = 8081;

export type PreloadScenario = {
  readonly folder: string;
  readonly library: string;
  compile(source: string, compiler: string, flags?: readonly string[]): string;
  /** Runs a program with one argument. The test fails if the program fails. @returns the program's output */
  outputOf(program: string, word: string): string;
  /** Opens a fake manager. Only processes that were started with its socket name connect to it. */
  openManager(settings?: ManagerSettings): Promise<Manager>;
  start(command: readonly string[], address: string, env?: Readonly<Record<string, string>>): Promise<ChildProcess>;
  /** Starts a program and waits for its first output. */
  startUntilOutput(command: readonly string[]): Promise<ChildProcess>;
  connect(address: string): Promise<Client>;
  /** Ends all processes and connections since the last call. */
  endAll(): Promise<void>;
  close(): Promise<void>;
};

export type ManagerSettings = { readonly port?: "another"; readonly isUnsealed?: boolean };

export type Manager = {
  readonly process: ChildProcess;
  /** Number of processes that received the shared memory page. */
  readonly countSentPages: () => number;
  setMode(mode: string): Promise<void>;
};

/** Long time limits for a busy host. Requests for the page follow each other without a pause. */
const LONG_LIMITS = {
  FIRST_WAIT_NS: "60000000000L",
  RETRY_WAIT_NS: "60000000000L",
  RETRY_PAUSE_SECONDS: "0",
  LATE_PAUSE_SECONDS: "0",
};

export type ScenarioSettings = {
  readonly processor?: ProcessorName;
  /** Name of a real manager's socket, if the scenario does not use the fake manager. */
  readonly socket?: string;
  /** Uses the library's released time limits. */
  readonly usesReleasedLimits?: boolean;
};

export async function openScenario(settings: ScenarioSettings = {}): Promise<PreloadScenario> {
  const { processor = "x64", socket = `lastcall/test/${randomUUID()}`, usesReleasedLimits = false } = settings;
  const folder = mkdtempSync(join(tmpdir(), "lastcall-preload-"));
  const macros = { FLAG_SOCKET: `"${socket}"`, ...(usesReleasedLimits ? {} : LONG_LIMITS) };
  const library = (await buildPreload(processor, join(folder, "preload.so"), macros)).file;
  let startedProcesses: ChildProcess[] = [];
  let clients: Client[] = [];
  const scenario: PreloadScenario = {
    folder,
    library,
    compile(source, compiler, flags = []) {
      const program = join(folder, `${source.replaceAll("/", "-")}-${compiler}`);
      const args = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", ...flags, `test/preload/${source}`, "-o", program];
      expect(spawnSync(compiler, args, { encoding: "utf8" }).stderr).toBe("");
      return program;
    },
    outputOf(program, word) {
      const { status, stdout } = spawnSync(program, [word], { encoding: "utf8" });
      expect(status).toBe(0);
      return stdout;
    },
    async openManager(settings = {}) {
      const program = scenario.compile("flag-server.c", "gcc");
      const args = [socket, String(settings.port === "another" ? OTHER_PORT : PORT)];
      const env = settings.isUnsealed === true ? { FLAG_UNSEALED: "1" } : {};
      const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "inherit"] });
      startedProcesses.push(child);
      let output = "";
      child.stdout.on("data", (bytes: Buffer) => {
        output += bytes.toString();
      });
      await eventually(() => expect(output).toContain("l"));
      return {
        process: child,
        countSentPages: () => output.split("p").length - 1,
        async setMode(mode) {
          child.stdin.write(mode);
          await eventually(() => expect(output).toContain(mode));
        },
      };
    },
    async start([program = "", ...args], address, env = {}) {
      const { PATH = "" } = process.env;
      const child = spawn(program, args, { cwd: folder, env: { PATH, LD_PRELOAD: library, ...env }, stdio: "ignore" });
      startedProcesses.push(child);
      await eventually(async () => (await Client.connect(address)).close());
      return child;
    },
    async startUntilOutput([program = "", ...args]) {
      const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
      startedProcesses.push(child);
      await once(child.stdout, "data");
      return child;
    },
    async connect(address) {
      const client = await Client.connect(address);
      clients.push(client);
      return client;
    },
    async endAll() {
      for (const client of clients) client.close();
      clients = [];
      const runningProcesses = startedProcesses.filter((child) => child.exitCode === null && child.signalCode === null);
      const exits = runningProcesses.map((child) => once(child, "exit"));
      for (const child of runningProcesses) child.kill("SIGKILL");
      startedProcesses = [];
      await Promise.all(exits);
    },
    async close() {
      await scenario.endAll();
      rmSync(folder, { recursive: true });
    },
  };
  return scenario;
}

export class Client {
  received = "";
  isClosed = false;
  private readonly socket: Socket;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (bytes: Buffer) => {
      this.received += bytes.toString("latin1");
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      this.isClosed = true;
    });
  }

  static async connect(address: string): Promise<Client> {
    const socket = connect(PORT, address);
    await once(socket, "connect");
    return new Client(socket);
  }

  send(bytes: string): void {
    this.socket.write(bytes, "latin1");
  }

  /** Sends a request and waits for the end of the response. @returns the bytes received since the last call */
  async request(bytes: string, end: string): Promise<string> {
    this.received = "";
    this.send(bytes);
    return await eventually(() => {
      expect(this.received.endsWith(end)).toBe(true);
      return this.received;
    });
  }

  close(): void {
    this.socket.destroy();
  }
}

export const withoutCloseHeader = (response: string): string => response.replace(CLOSE_HEADER, "");
