/** Tests the test clock with Node programs; the native test clock is tested by the scenarios of the native build. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { createTestClock, type TestClock } from "./test-clock.ts";

const ON_NODE = new URL("on-node.mjs", import.meta.url).href;

/** Runs a Node program on the test clock. @returns the program's output, after its exit */
async function outputOnClock(clock: TestClock, source: string): Promise<string> {
  const child = spawn(process.execPath, [`--import=${ON_NODE}`, "--input-type=module", "-e", `${source}\n${READY}`], {
    env: { ...clock.environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  clock.follow(child.pid ?? 0, ended);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  await ended;
  return output;
}

const READY = "globalThis.lastcallTestClock.ready();";
const EXIT = "process.exit(0)";
const PRINT_NOW = "console.log(performance.now())";

test("an hour in a program passes immediately with the test clock", async () => {
  const clock = await createTestClock();
  const output = outputOnClock(clock, `setTimeout(() => { ${PRINT_NOW}; ${EXIT}; }, 3_000_000)`);
  expect(await clock.runUntil(output)).toBe("3000000\n");
  expect(clock.nowMs()).toBe(3_000_000);
  await clock.end();
});

test("timers of a program run in the order of their due times, and each one reads its due time from the clock", async () => {
  const clock = await createTestClock();
  const output = outputOnClock(
    clock,
    `const print = (name) => console.log(name, performance.now());
    setTimeout(() => { print("late"); ${EXIT}; }, 900);
    setTimeout(print, 300, "first");
    const interval = setInterval(() => print("interval"), 250);
    setTimeout(() => clearInterval(interval), 600);`,
  );
  expect(await clock.runUntil(output)).toBe("interval 250\nfirst 300\ninterval 500\nlate 900\n");
  await clock.end();
});

test("a request between the test and a program does not take virtual time", async () => {
  const clock = await createTestClock();
  const server = createServer((_, res) => clock.after(5_000, () => res.end("later"))).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const source = `const { get } = await import("node:http");
    get({ host: "127.0.0.1", port: ${port}, agent: false }, (res) => {
      res.resume().on("end", () => { ${PRINT_NOW}; ${EXIT}; });
    });`;
  expect(await clock.runUntil(outputOnClock(clock, source))).toBe("5000\n");
  server.close();
  await clock.end();
});

test("a socket timeout of a program follows the test clock", async () => {
  const clock = await createTestClock();
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const source = `const { get } = await import("node:http");
    const sent = get({ host: "127.0.0.1", port: ${port}, agent: false, timeout: 70_000 });
    sent.on("timeout", () => { ${PRINT_NOW}; ${EXIT}; });`;
  expect(await clock.runUntil(outputOnClock(clock, source))).toBe("70000\n");
  server.closeAllConnections();
  server.close();
  await clock.end();
});

test("timers of the test and of its programs run on the same virtual time", async () => {
  const clock = await createTestClock();
  const observedTimes: string[] = [];
  const server = createServer((_, res) => {
    observedTimes.push(`request at ${clock.nowMs()}`);
    res.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const output = outputOnClock(
    clock,
    `const { get } = await import("node:http");
    setTimeout(() => get({ host: "127.0.0.1", port: ${port}, agent: false }, (res) => res.resume()), 2_000);
    setTimeout(() => ${EXIT}, 10_000);`,
  );
  const scenario = async () => {
    await clock.wait(1_999);
    observedTimes.push(`waited until ${clock.nowMs()}`);
    await clock.wait(2);
    observedTimes.push(`waited until ${clock.nowMs()}`);
    await output;
  };
  await clock.runUntil(scenario());
  expect(observedTimes).toEqual(["waited until 1999", "request at 2000", "waited until 2001"]);
  server.close();
  await clock.end();
});

test("a run fails if no timer or event can settle its promise", async () => {
  const clock = await createTestClock();
  const never = new Promise<void>(() => {});
  await expect(clock.runUntil(never)).rejects.toThrow(
    "at 0 ms no timer or event is left that could settle the promise; 0 programs follow the clock",
  );
  await clock.end();
});

test("event loop turns before the start of a program do not count as idle turns of the program", async () => {
  const clock = await createTestClock();
  clock.every(1, () => {});
  const RESPONSES: Readonly<Record<string, string>> = { begin: "ready\n", sync: "idle 0 -1\n", run: "" };
  const commandsReceived: string[] = [];
  // The test itself plays the program, in the clock's thread, so the program starts within one of the clock's turns.
  const runProgram = async () => {
    const ended = Promise.withResolvers<void>();
    const clockMoved = Promise.withResolvers<void>();
    clock.follow(process.pid, ended.promise);
    const socket = connect(`\0${clock.environment["LASTCALL_TEST_CLOCK"]}`);
    socket.write(`hello ${process.pid}\n`);
    socket.on("data", (chunk: Buffer) => {
      for (const word of chunk.toString().match(/^[a-z]+/gm) ?? []) {
        if (word === "run") clockMoved.resolve();
        socket.write(RESPONSES[word] ?? (commandsReceived.length > 1 ? "set\n" : ""));
        commandsReceived.push(word);
      }
    });
    await clockMoved.promise;
    socket.destroy();
    ended.resolve();
  };
  await clock.runUntil(runProgram());
  expect(commandsReceived.slice(0, 7)).toEqual(["at", "begin", "sync", "sync", "sync", "at", "run"]);
  await clock.end();
});
