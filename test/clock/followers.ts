/** The programs that follow a test's clock, each at the end of its line; `test-clock.ts` has the words. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { eventually } from "../time/eventually.ts";

export type Follower = {
  /** When its next timer is due; {@link NEVER_MS} where it has none. */
  readonly dueMs: () => number;
};

export type Followers = {
  readonly all: () => readonly Follower[];
  /** Tells all of them and waits for the answer of each, or its end. */
  readonly ask: (words: string) => Promise<void>;
  readonly tell: (words: string) => void;
  /** One was started: it is awaited until it is ready, and at its end until the test has seen that. */
  readonly follow: (pid: number, ended: Promise<unknown>) => void;
  /** Those that have been started and are not ready, or have hung up and not ended. */
  readonly awaited: () => number;
  /** What has come to them from others, their starts and their ends so far; a running total. */
  readonly changes: () => number;
  readonly end: () => Promise<void>;
};

export const NEVER_MS = -1;

type Line = { readonly follower: Follower; readonly socket: Socket; answer: () => void };

/** @param time what a newcomer is told first */
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
    const words: Readonly<Record<string, (first?: string, second?: string) => void>> = {
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
      for (const [word = "", ...more] of whole.map((each) => each.split(" "))) words[word]?.(...more);
    });
    // One that was killed.
    socket.on("error", () => {});
    socket.on("close", () => {
      lines.delete(line);
      line.answer();
      if (isReady) changeAwaited(1);
      void (endings.get(pid) ?? gone(pid)).then(() => changeAwaited(-1));
    });
  };

  const server = createServer(open);
  // An abstract name: no file is left, and the manager's looks at the sockets do not see it.
  server.listen(`\0${name}`);
  await once(server, "listening");
  return {
    all: () => [...lines].map(({ follower }) => follower),
    ask: async (words) => {
      const answers = [...lines].map((line) => {
        const answered = new Promise<void>((resolve) => {
          line.answer = resolve;
        });
        line.socket.write(words);
        return answered;
      });
      await Promise.all(answers);
    },
    tell: (words) => {
      for (const { socket } of lines) socket.write(words);
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

/** A child of a program under test: its parent can learn of its end from then on. */
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
