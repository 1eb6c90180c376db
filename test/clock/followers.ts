/** The programs that follow a test's clock, each on its own connection; `test-clock.ts` documents the protocol. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { eventually } from "../time/eventually.ts";

export type Follower = {
  /** The due time of its next timer; {@link NEVER_MS} without one. */
  readonly dueMs: () => number;
};

export type Followers = {
  readonly all: () => readonly Follower[];
  /** Sends a line to all programs and waits for the answer of each, or for its end. */
  readonly request: (line: string) => Promise<void>;
  readonly send: (line: string) => void;
  /** Registers a started program: the clock waits until it is ready, and at its end until the test has seen that. */
  readonly follow: (pid: number, ended: Promise<unknown>) => void;
  /** The number of programs that have not become ready yet, or have disconnected and not ended. */
  readonly awaited: () => number;
  /** The total of their events, starts and ends; it only grows. */
  readonly changes: () => number;
  readonly end: () => Promise<void>;
};

export const NEVER_MS = -1;

type Line = { readonly follower: Follower; readonly socket: Socket; answer: () => void };

/** @param time the first line for a new program */
export async function listenForFollowers(name: string, time: () => string): Promise<Followers> {
  const lines = new Set<Line>();
  const endings = new Map<number, Promise<unknown>>();
  let awaited = 0;
  let changes = 0;
  const changeAwaited = (by: number): void => {
    awaited += by;
    changes += 1;
  };

  const open = (socket: Socket): void => {
    let pid = 0;
    let isReady = false;
    let events = 0;
    let dueMs = NEVER_MS;
    const follower = { dueMs: () => dueMs };
    const line: Line = { follower, socket, answer: () => {} };
    const commands: Readonly<Record<string, (first?: string, second?: string) => void>> = {
      hello: (itsPid) => {
        pid = Number(itsPid);
        socket.write(`${time()}begin\n`);
        lines.add(line);
        changeAwaited(0);
      },
      ready: () => {
        isReady = true;
        changeAwaited(-1);
      },
      spawn: () => changeAwaited(1),
      unborn: () => changeAwaited(-1),
      set: () => line.answer(),
      idle: (itsEvents, itsDueMs) => {
        changes += Number(itsEvents) - events;
        events = Number(itsEvents);
        dueMs = Number(itsDueMs);
        line.answer();
      },
    };
    let rest = "";
    socket.on("data", (chunk: Buffer) => {
      const whole = (rest + chunk.toString()).split("\n");
      rest = whole.pop() ?? "";
      for (const [command = "", ...more] of whole.map((each) => each.split(" "))) commands[command]?.(...more);
    });
    // The program was killed.
    socket.on("error", () => {});
    socket.on("close", () => {
      lines.delete(line);
      line.answer();
      if (isReady) changeAwaited(1);
      void (endings.get(pid) ?? gone(pid)).then(() => changeAwaited(-1));
    });
  };

  const server = createServer(open);
  // An abstract socket leaves no file behind, and the manager's samples do not include it.
  server.listen(`\0${name}`);
  await once(server, "listening");
  return {
    all: () => [...lines].map(({ follower }) => follower),
    request: async (text) => {
      const answers = [...lines].map((line) => {
        const answered = new Promise<void>((resolve) => {
          line.answer = resolve;
        });
        line.socket.write(text);
        return answered;
      });
      await Promise.all(answers);
    },
    send: (text) => {
      for (const { socket } of lines) socket.write(text);
    },
    follow: (pid, ended) => {
      changeAwaited(1);
      endings.set(pid, ended);
    },
    awaited: () => awaited,
    changes: () => changes,
    end: async () => {
      for (const { socket } of lines) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Waits for the exit of a child of a program under test, after which its parent can observe it. */
function gone(pid: number): Promise<void> {
  return eventually(() => {
    if (isAlive(pid)) throw new Error(`process ${pid} has hung up and has not ended`);
  });
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
