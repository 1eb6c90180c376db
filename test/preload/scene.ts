/** A process with the library, a stand-in for the manager that hands out the flag, and clients that count bytes. */
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

export const FAREWELL = "Connection: close\r\n";
export const MODE = { wait: "0", close: "1", off: "2" } as const;

/** Any port of an address of one's own is free. */
export const PORT = 8080;
const OTHER_PORT = 8081;

export type Scene = {
  readonly folder: string;
  readonly library: string;
  compile(source: string, compiler: string, flags?: readonly string[]): string;
  /** @returns what a program of one word prints; the test fails where it does not end well */
  runs(program: string, word: string): string;
  /** Without a name for the same socket a process finds no manager. */
  openManager(settings?: ManagerSettings): Promise<Manager>;
  start(command: readonly string[], address: string, env?: Readonly<Record<string, string>>): Promise<ChildProcess>;
  /** Starts a program that prints when it is where it should be. */
  floods(command: readonly string[]): Promise<ChildProcess>;
  connect(address: string): Promise<Client>;
  /** Ends what was started and connected since the last time. */
  endAll(): Promise<void>;
  close(): Promise<void>;
};

export type ManagerSettings = { readonly port?: "another"; readonly unsealed?: boolean };

export type Manager = {
  readonly process: ChildProcess;
  /** How many processes have the page. */
  readonly pages: () => number;
  flip(mode: string): Promise<void>;
};

/** As long as a busy host needs to let the manager answer, and at once again where it has died. */
const PATIENT = { FIRST_ANSWER_NS: "60000000000L", NEXT_ANSWER_NS: "60000000000L", ASK_AGAIN_SECONDS: "0" };

export type SceneSettings = {
  readonly processor?: ProcessorName;
  /** Of another manager than the stand-in. */
  readonly socket?: string;
  /** With the time limits that are released. */
  readonly isImpatient?: boolean;
};

export async function openScene(settings: SceneSettings = {}): Promise<Scene> {
  const { processor = "x64", socket = `lastcall/test/${randomUUID()}`, isImpatient = false } = settings;
  const folder = mkdtempSync(join(tmpdir(), "lastcall-preload-"));
  const macros = { FLAG_SOCKET: `"${socket}"`, ...(isImpatient ? {} : PATIENT) };
  const library = (await buildPreload(processor, join(folder, "preload.so"), macros)).file;
  let started: ChildProcess[] = [];
  let clients: Client[] = [];
  const scene: Scene = {
    folder,
    library,
    compile(source, compiler, flags = []) {
      const program = join(folder, `${source.replaceAll("/", "-")}-${compiler}`);
      const args = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", ...flags, `test/preload/${source}`, "-o", program];
      expect(spawnSync(compiler, args, { encoding: "utf8" }).stderr).toBe("");
      return program;
    },
    runs(program, word) {
      const { status, stdout } = spawnSync(program, [word], { encoding: "utf8" });
      expect(status).toBe(0);
      return stdout;
    },
    async openManager(settings = {}) {
      const program = scene.compile("flag-server.c", "gcc");
      const words = [socket, String(settings.port === "another" ? OTHER_PORT : PORT)];
      const env = settings.unsealed === true ? { FLAG_UNSEALED: "1" } : {};
      const child = spawn(program, words, { env, stdio: ["pipe", "pipe", "inherit"] });
      started.push(child);
      let said = "";
      child.stdout.on("data", (bytes: Buffer) => {
        said += bytes.toString();
      });
      await eventually(() => expect(said).toContain("l"));
      return {
        process: child,
        pages: () => said.split("p").length - 1,
        async flip(mode) {
          child.stdin.write(mode);
          await eventually(() => expect(said).toContain(mode));
        },
      };
    },
    async start([program = "", ...args], address, env = {}) {
      const { PATH = "" } = process.env;
      const child = spawn(program, args, { cwd: folder, env: { PATH, LD_PRELOAD: library, ...env }, stdio: "ignore" });
      started.push(child);
      await eventually(async () => (await Client.connect(address)).close());
      return child;
    },
    async floods([program = "", ...args]) {
      const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
      started.push(child);
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
      const ending = started.filter((child) => child.exitCode === null && child.signalCode === null);
      const ended = ending.map((child) => once(child, "exit"));
      for (const child of ending) child.kill("SIGKILL");
      started = [];
      await Promise.all(ended);
    },
    async close() {
      await scene.endAll();
      rmSync(folder, { recursive: true });
    },
  };
  return scene;
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

  /** Asks, and waits for what ends the answer. @returns what came since the last time */
  async ask(request: string, end: string): Promise<string> {
    this.received = "";
    this.send(request);
    return await eventually(() => {
      expect(this.received.endsWith(end)).toBe(true);
      return this.received;
    });
  }

  close(): void {
    this.socket.destroy();
  }
}

export const withoutFarewell = (answer: string): string => answer.replace(FAREWELL, "");
