/**
 * Makes each kind of call of the manager to a port of 127.0.0.1, and exits. Runs on Node and compiles natively; the leak
 * sanitizer reports memory that is not freed at the exit. Arguments: port, first number, count.
 */
import { runChainedHook } from "../../../src/manager/calls/chained-hook-call.ts";
import { callManager } from "../../../src/manager/calls/manager-call.ts";
import { readChainedHooks } from "../../../src/manager/calls/original-hooks.ts";
import { parseActiveCount } from "../../../src/manager/drivers/http/http-driver.ts";
import { callHttp } from "../../../src/manager/http/http-client.ts";

const LIMIT_MS = 400;

const port = Number(process.argv[2] ?? "0");
const first = Number(process.argv[3] ?? "0");
const end = first + Number(process.argv[4] ?? "0");

function print(n: number, result: string): void {
  process.stdout.write(`${n} ${result}\n`);
}

function call(n: number): void {
  if (n >= end) return;
  let resultCount = 0;
  const onResult = (result: string): void => {
    resultCount = resultCount + 1;
    if (resultCount > 1) {
      print(n, "SETTLED TWICE");
      return;
    }
    print(n, result);
    call(n + 1);
  };
  const path = `/${n}`;
  if (n % 4 === 1) {
    const { hooks } = readChainedHooks(`{"chain":{"app":{"httpGet":{"port":${port},"path":"${path}"}}}}`);
    for (const hook of hooks) {
      runChainedHook(hook, (failure) => onResult(failure === "" ? "hook performed" : "hook failed"));
    }
  } else if (n % 4 === 3) {
    callManager(
      { host: "127.0.0.1", port, method: "GET", path, timeoutMs: LIMIT_MS, waitsForResponse: false },
      () => performance.now(),
      (response) => onResult(`manager ${response.kind}`),
    );
  } else {
    callHttp(
      { target: { host: "127.0.0.1", port, path, selector: "" }, method: "GET", timeoutMs: LIMIT_MS },
      (response) => {
        const counts = `${parseActiveCount(response.body, "")} ${parseActiveCount(response.body, "http_active")}`;
        const isComplete = response.status > 0 && response.failure === "";
        onResult(`app ${isComplete ? "whole" : "failed"} ${response.status} ${counts} ${response.body.length}`);
      },
    );
  }
}

call(first);
