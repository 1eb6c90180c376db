/**
 * The test clock in the manager on Node, loaded with `--import`. `native-clock.c` is the same for the
 * native build, and `test-clock.ts` the other end of both. Plain JavaScript, since every started program loads it.
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

/** The async resources that deliver the manager's external events. */
const EVENTS = /^(TCP|TLS|PIPE|SIGNAL|PROCESS)/;
const watched = new Set();
createHook({
  init: (id, type) => {
    if (EVENTS.test(type)) watched.add(id);
  },
  before: (id) => {
    if (watched.has(id)) events += 1;
  },
  destroy: (id) => watched.delete(id),
}).enable();

const realImmediate = setImmediate;

class Timer {
  constructor(callback, delayMs, args, repeats) {
    Object.assign(this, { callback, args, repeats, id: ++sequence });
    // As Node rounds it.
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
    // As between two timers of Node, the queue of process.nextTick runs first.
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
  line.on("connect", () => watched.delete(line._handle.getAsyncId()));
  line.on("error", () => process.exit(0));
  line.on("close", () => process.exit(0));
  await new Promise((started) => {
    let rest = "";
    line.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      for (const words of lines) obey(words.split(" "), line, started);
    });
    line.write(`hello ${process.pid}\n`);
  });
  takeOver();
  passOn(line);
  // Modules load outside of the event loop, so only the program can report its start.
  const ready = () => line.write("ready\n");
  globalThis.lastcallTestClock = { nowMs, ready, beforeStep: undefined };
}

/** Makes the relay's client follow the same clock, whatever its environment. */
function passOn(line) {
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

function obey([command, toMs], line, started) {
  if (command === "begin") {
    running = true;
    started();
  } else if (command === "sync") realImmediate(() => realImmediate(() => answer(line)));
  else if (command === "run") runDueTimers();
  else {
    globalThis.lastcallTestClock?.beforeStep?.();
    clockMs = Number(toMs);
    if (running) line.write("set\n");
  }
}

function answer(line) {
  line.write(`idle ${events} ${nextTimer()?.dueMs ?? -1}\n`);
}

function takeOver() {
  const startMs = nowMs();
  performance.now = () => nowMs() - startMs;
  globalThis.setTimeout = (callback, delayMs, ...args) => new Timer(callback, delayMs, args, false);
  globalThis.setInterval = (callback, delayMs, ...args) => new Timer(callback, delayMs, args, true);
  globalThis.clearTimeout = clear;
  globalThis.clearInterval = clear;
  const patience = Symbol("patience");
  Socket.prototype.setTimeout = function (ms, callback) {
    this[patience]?.close();
    this[patience] = undefined;
    this.timeout = ms;
    if (callback !== undefined && ms > 0) this.once("timeout", callback);
    if (callback !== undefined && ms === 0) this.removeListener("timeout", callback);
    if (ms > 0) {
      this[patience] = new Timer(() => this._onTimeout(), ms, [], false);
      this.once("close", () => this[patience]?.close());
    }
    return this;
  };
  Socket.prototype._unrefTimer = function () {
    for (let socket = this; socket; socket = socket._parent) if (timers.has(socket[patience]?.id)) socket[patience].refresh();
  };
  // Without TCP_NODELAY the kernel delays a small write until the last one is acknowledged, up to 40 ms of real time.
  const { connect: connectSocket } = Socket.prototype;
  Socket.prototype.connect = function (...args) {
    return connectSocket.apply(this.setNoDelay(true), args);
  };
  redirectLibc();
}

/** The ages in the kernel's tables are by the kernel's clock: `node-libc-on-clock.mjs` stands in front of `node-libc.ts`. */
function redirectLibc() {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "./node-libc.ts" && context.parentURL?.endsWith("/node-main.ts")
        ? next(new URL("node-libc-on-clock.mjs", import.meta.url).href, context)
        : next(specifier, context),
  });
}
