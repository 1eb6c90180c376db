/** The clock that tests move, with programs of Node; the stories of both builds try the native one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { createTestClock, type TestClock } from "./test-clock.ts";

const ON_NODE = new URL("on-node.mjs", import.meta.url).href;

/** A program of Node that follows the clock. @returns what it printed, once it has ended */
async function play(clock: TestClock, source: string): Promise<string> {
  const child = spawn(process.execPath, [`--import=${ON_NODE}`, "--input-type=module", "-e", `${source}\n${READY}`], {
    env: { ...clock.environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  clock.follow(child.pid ?? 0, ended);
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  await ended;
  return out;
}

const READY = "globalThis.lastcallTestClock.ready();";
const END = "process.exit(0)";
const SAY_NOW = "console.log(performance.now())";

test("a program's hour is over when the clock says so", async () => {
  const clock = await createTestClock();
  const said = play(clock, `setTimeout(() => { ${SAY_NOW}; ${END}; }, 3_000_000)`);
  expect(await clock.runUntil(said)).toBe("3000000\n");
  expect(clock.nowMs()).toBe(3_000_000);
  await clock.end();
});

test("timers of a program come in the order in which they are due, and each sees its own time", async () => {
  const clock = await createTestClock();
  const said = play(
    clock,
    `const say = (word) => console.log(word, performance.now());
    setTimeout(() => { say("late"); ${END}; }, 900);
    setTimeout(say, 300, "first");
    const beat = setInterval(() => say("beat"), 250);
    setTimeout(() => clearInterval(beat), 600);`,
  );
  expect(await clock.runUntil(said)).toBe("beat 250\nfirst 300\nbeat 500\nlate 900\n");
  await clock.end();
});

test("a call between the test and a program takes none of its time", async () => {
  const clock = await createTestClock();
  const server = createServer((_, res) => clock.after(5_000, () => res.end("later"))).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const asks = `const { get } = await import("node:http");
    get({ host: "127.0.0.1", port: ${port}, agent: false }, (res) => {
      res.resume().on("end", () => { ${SAY_NOW}; ${END}; });
    });`;
  expect(await clock.runUntil(play(clock, asks))).toBe("5000\n");
  server.close();
  await clock.end();
});

test("a socket's own patience is by the clock too", async () => {
  const clock = await createTestClock();
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const asks = `const { get } = await import("node:http");
    const asked = get({ host: "127.0.0.1", port: ${port}, agent: false, timeout: 70_000 });
    asked.on("timeout", () => { ${SAY_NOW}; ${END}; });`;
  expect(await clock.runUntil(play(clock, asks))).toBe("70000\n");
  server.closeAllConnections();
  server.close();
  await clock.end();
});

test("the test's own timers and the programs' share one time", async () => {
  const clock = await createTestClock();
  const seen: string[] = [];
  const server = createServer((_, res) => {
    seen.push(`asked at ${clock.nowMs()}`);
    res.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const program = play(
    clock,
    `const { get } = await import("node:http");
    setTimeout(() => get({ host: "127.0.0.1", port: ${port}, agent: false }, (res) => res.resume()), 2_000);
    setTimeout(() => ${END}, 10_000);`,
  );
  const story = async () => {
    await clock.wait(1_999);
    seen.push(`waited until ${clock.nowMs()}`);
    await clock.wait(2);
    seen.push(`waited until ${clock.nowMs()}`);
    await program;
  };
  await clock.runUntil(story());
  expect(seen).toEqual(["waited until 1999", "asked at 2000", "waited until 2001"]);
  server.close();
  await clock.end();
});

test("where nothing could bring the end any more, the test is told", async () => {
  const clock = await createTestClock();
  const never = new Promise<void>(() => {});
  await expect(clock.runUntil(never)).rejects.toThrow("at 0 ms nothing is left to wait for; 0 programs follow");
  await clock.end();
});

test("turns that began before a program had started are none of its quiet turns", async () => {
  const clock = await createTestClock();
  clock.every(1, () => {});
  const ANSWERS: Readonly<Record<string, string>> = { begin: "ready\n", sync: "idle 0 -1\n", run: "" };
  const heard: string[] = [];
  // A program of this thread, so that it starts within the own turns of one of the clock's.
  const starts = async () => {
    const ended = Promise.withResolvers<void>();
    const moved = Promise.withResolvers<void>();
    clock.follow(process.pid, ended.promise);
    const socket = connect(`\0${clock.environment["LASTCALL_TEST_CLOCK"]}`);
    socket.write(`hello ${process.pid}\n`);
    socket.on("data", (chunk: Buffer) => {
      for (const word of chunk.toString().match(/^[a-z]+/gm) ?? []) {
        if (word === "run") moved.resolve();
        socket.write(ANSWERS[word] ?? (heard.length > 1 ? "set\n" : ""));
        heard.push(word);
      }
    });
    await moved.promise;
    socket.destroy();
    ended.resolve();
  };
  await clock.runUntil(starts());
  expect(heard.slice(0, 7)).toEqual(["at", "begin", "sync", "sync", "sync", "at", "run"]);
  await clock.end();
});
