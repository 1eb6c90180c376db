/**
 * The test clock of the manager on Node, loaded with `--import`. `native-clock.c` does the same in the native build;
  * `test-clock.ts` runs in the test and controls both. JavaScript, because every started program loads this file.
 */
import { createHook } from "node:async_hooks";
import childProcess from "node:child_process";
import { registerHooks, syncBuiltinESMExports } from "node:module";
import { connect, Socket } from "node:net";

let clockMs = 0;
const timers = new Map();
let sequence = 0;
let events = 0;
let running = false;

const nowMs = () => clockMs;

/** The types of async resources that deliver the manager's external events. */
const EVENT_RESOURCE_TYPES = /^(TCP|TLS|PIPE|SIGNAL|PROCESS)/;
const eventResources = new Set();
createHook({
  init: (id, type) => {
    if (EVENT_RESOURCE_TYPES.test(type)) eventResources.add(id);
  },
  before: (id) => {
    if (eventResources.has(id)) events += 1;
  },
  destroy: (id) => eventResources.delete(id),
}).enable();

const originalSetImmediate = setImmediate;

class Timer {
  constructor(callback, delayMs, args, repeats) {
    Object.assign(this, { callback, args, repeats, id: ++sequence });
    // Node rounds delays in the same way.
    this.delayMs = delayMs >= 1 && delayMs <= 2_147_483_647 ? Math.trunc(delayMs) : 1;
    this.refresh();
  }
  refresh() {
    this.dueMs = nowMs() + this.delayMs;
    this.order = ++sequence;
    timers.set(this.id, this);
    return this;
  }
  close() {
    timers.delete(this.id);
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
  [Symbol.toPrimitive]() {
    return this.id;
  }
}

function nextTimer() {
  let next;
  for (const timer of timers.values())
    if (next === undefined || timer.dueMs < next.dueMs || (timer.dueMs === next.dueMs && timer.order < next.order))
      next = timer;
  return next;
}

function runDueTimers() {
  for (let timer = nextTimer(); timer !== undefined && timer.dueMs <= nowMs(); timer = nextTimer()) {
    timers.delete(timer.id);
    timer.callback(...timer.args);
    // Node also runs the queue of process.nextTick between two timers.
    process._tickCallback();
    if (timer.repeats) timer.refresh();
  }
}

const clear = (timer) => {
  if (timer instanceof Timer) timer.close();
  else timers.delete(Number(timer));
};

const name = process.env.LASTCALL_TEST_CLOCK;
if (name !== undefined) {
  const line = connect(`\0${name}`);
  line.on("connect", () => eventResources.delete(line._handle.getAsyncId()));
  line.on("error", () => process.exit(0));
  line.on("close", () => process.exit(0));
  await new Promise((started) => {
    let rest = "";
    line.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      for (const words of lines) execute(words.split(" "), line, started);
    });
    line.write(`hello ${process.pid}\n`);
  });
  replaceClockFunctions();
  passClockToChildren(line);
  // Modules load outside of the event loop, so the program itself reports its start.
  const ready = () => line.write("ready\n");
  globalThis.lastcallTestClock = { nowMs, ready, beforeStep: undefined };
}

/** Adds the clock's variables to the environment of the relay's client. */
function passClockToChildren(line) {
  const { spawn } = childProcess;
  childProcess.spawn = (file, args, options) => {
    line.write("spawn\n");
    const more = { LASTCALL_TEST_CLOCK: name, NODE_OPTIONS: `--import=${import.meta.url}` };
    const child = spawn(file, args, { ...options, env: { ...options.env, ...more } });
    if (child.pid === undefined) line.write("unborn\n");
    return child;
  };
  syncBuiltinESMExports();
}

function execute([command, toMs], line, started) {
  if (command === "begin") {
    running = true;
    started();
  } else if (command === "sync") originalSetImmediate(() => originalSetImmediate(() => reportIdle(line)));
  else if (command === "run") runDueTimers();
  else {
    globalThis.lastcallTestClock?.beforeStep?.();
    clockMs = Number(toMs);
    if (running) line.write("set\n");
  }
}

function reportIdle(line) {
  line.write(`idle ${events} ${nextTimer()?.dueMs ?? -1}\n`);
}

function replaceClockFunctions() {
  const startMs = nowMs();
  performance.now = () => nowMs() - startMs;
  globalThis.setTimeout = (callback, delayMs, ...args) => new Timer(callback, delayMs, args, false);
  globalThis.setInterval = (callback, delayMs, ...args) => new Timer(callback, delayMs, args, true);
  globalThis.clearTimeout = clear;
  globalThis.clearInterval = clear;
  const timeoutTimer = Symbol("timeoutTimer");
  Socket.prototype.setTimeout = function (ms, callback) {
    this[timeoutTimer]?.close();
    this[timeoutTimer] = undefined;
    this.timeout = ms;
    if (callback !== undefined && ms > 0) this.once("timeout", callback);
    if (callback !== undefined && ms === 0) this.removeListener("timeout", callback);
    if (ms > 0) {
      this[timeoutTimer] = new Timer(() => this._onTimeout(), ms, [], false);
      this.once("close", () => this[timeoutTimer]?.close());
    }
    return this;
  };
  Socket.prototype._unrefTimer = function () {
    for (let socket = this; socket; socket = socket._parent) if (timers.has(socket[timeoutTimer]?.id)) socket[timeoutTimer].refresh();
  };
  // Without TCP_NODELAY the kernel delays a small write until the previous one is acknowledged, up to 40 ms of real time.
  const { connect: connectSocket } = Socket.prototype;
  Socket.prototype.connect = function (...args) {
    return connectSocket.apply(this.setNoDelay(true), args);
  };
  redirectLibc();
}

/** The kernel's socket ages are on its own clock, so the manager loads `node-libc-on-clock.mjs` instead of `node-libc.ts`. */
function redirectLibc() {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "./node-libc.ts" && context.parentURL?.endsWith("/node-main.ts")
        ? next(new URL("node-libc-on-clock.mjs", import.meta.url).href, context)
        : next(specifier, context),
  });
}
