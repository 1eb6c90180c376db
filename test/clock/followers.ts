/** The programs that follow a test's clock, each on its own connection; `test-clock.ts` documents the protocol. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { eventually } from "../time/eventually.ts";

export type Follower = {
  /** The due time of the program's next timer; {@link NEVER_MS} if it does not have a timer. */
  readonly dueMs: () => number;
};

export type Followers = {
  readonly all: () => readonly Follower[];
  /** Sends a line to all programs and waits until each has responded or ended. */
  readonly request: (line: string) => Promise<void>;
  readonly send: (line: string) => void;
  /** Registers a started program. The clock waits until the program is ready; after its exit, until `ended` has settled. */
  readonly follow: (pid: number, ended: Promise<unknown>) => void;
  /** The number of programs that are still starting, or have disconnected and are still exiting. */
  readonly pendingCount: () => number;
  /** The total number of events, starts and exits of all programs. */
  readonly changeCount: () => number;
  readonly end: () => Promise<void>;
};

export const NEVER_MS = -1;

type Connection = { readonly follower: Follower; readonly socket: Socket; onResponse: () => void };

/** @param timeLine creates the first line for a new program */
export async function listenForFollowers(name: string, timeLine: () => string): Promise<Followers> {
  const connections = new Set<Connection>();
  const exits = new Map<number, Promise<unknown>>();
  let pendingCount = 0;
  let changeCount = 0;
  const changePendingCount = (by: number): void => {
    pendingCount += by;
    changeCount += 1;
  };

  const onConnection = (socket: Socket): void => {
    let pid = 0;
    let isReady = false;
    let events = 0;
    let dueMs = NEVER_MS;
    const follower = { dueMs: () => dueMs };
    const connection: Connection = { follower, socket, onResponse: () => {} };
    const commands: Readonly<Record<string, (first?: string, second?: string) => void>> = {
      hello: (pidText) => {
        pid = Number(pidText);
        socket.write(`${timeLine()}begin\n`);
        connections.add(connection);
        changePendingCount(0);
      },
      ready: () => {
        isReady = true;
        changePendingCount(-1);
      },
      spawn: () => changePendingCount(1),
      unborn: () => changePendingCount(-1),
      set: () => connection.onResponse(),
      idle: (eventsText, dueMsText) => {
        changeCount += Number(eventsText) - events;
        events = Number(eventsText);
        dueMs = Number(dueMsText);
        connection.onResponse();
      },
    };
    let rest = "";
    socket.on("data", (chunk: Buffer) => {
      const completeLines = (rest + chunk.toString()).split("\n");
      rest = completeLines.pop() ?? "";
      for (const [command = "", ...more] of completeLines.map((each) => each.split(" "))) commands[command]?.(...more);
    });
    // A killed program resets its connection.
    socket.on("error", () => {});
    socket.on("close", () => {
      connections.delete(connection);
      connection.onResponse();
      if (isReady) changePendingCount(1);
      void (exits.get(pid) ?? waitForExit(pid)).then(() => changePendingCount(-1));
    });
  };

  const server = createServer(onConnection);
  // An abstract socket does not leave a file behind, and the manager's samples do not include it.
  server.listen(`\0${name}`);
  await once(server, "listening");
  return {
    all: () => [...connections].map(({ follower }) => follower),
    request: async (text) => {
      const responses = [...connections].map((connection) => {
        const response = new Promise<void>((resolve) => {
          connection.onResponse = resolve;
        });
        connection.socket.write(text);
        return response;
      });
      await Promise.all(responses);
    },
    send: (text) => {
      for (const { socket } of connections) socket.write(text);
    },
    follow: (pid, ended) => {
      changePendingCount(1);
      exits.set(pid, ended);
    },
    pendingCount: () => pendingCount,
    changeCount: () => changeCount,
    end: async () => {
      for (const { socket } of connections) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Waits until a child of a program under test has exited, because only then can its parent observe the exit. */
function waitForExit(pid: number): Promise<void> {
  return eventually(() => {
    if (isAlive(pid)) throw new Error(`process ${pid} has disconnected but has not exited`);
  });
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
