/** Tests which of a container's own hooks lastcall replaces, because its drain and the stop signal have the same effect. */
import { describe, expect, test } from "vitest";
import { parseHookCommand } from "../../src/injection/hooks/hook-script.ts";
import { findKnownHook } from "../../src/injection/hooks/known-hooks.ts";
import type { RawObject } from "../../src/kubernetes/raw-json.ts";

const shellCommandOf = (script: string): readonly string[] => ["/bin/sh", "-c", script];

describe("the command of a hook", () => {
  test.each<[readonly string[], { sleepSeconds: number; signals: readonly string[] }]>([
    [["sleep", "1.5"], { sleepSeconds: 2, signals: [] }],
    [shellCommandOf("sleep 10 || true"), { sleepSeconds: 10, signals: [] }],
    [shellCommandOf("echo stopping; sleep 5; exit 0"), { sleepSeconds: 5, signals: [] }],
    [shellCommandOf("set -e\nsleep 5 && sleep 1m >/dev/null 2>&1"), { sleepSeconds: 65, signals: [] }],
    [["nginx", "-s", "quit"], { sleepSeconds: 0, signals: ["SIGQUIT"] }],
    [["/usr/sbin/nginx", "-s", "quit"], { sleepSeconds: 0, signals: ["SIGQUIT"] }],
    [shellCommandOf("sleep 5; /usr/sbin/nginx -s quit; sleep 30"), { sleepSeconds: 5, signals: ["SIGQUIT"] }],
    [
      shellCommandOf("nginx -s quit; while killall -0 nginx; do sleep 1; done"),
      { sleepSeconds: 0, signals: ["SIGQUIT"] },
    ],
    [["/usr/local/openresty/bin/openresty", "-s", "quit"], { sleepSeconds: 0, signals: ["SIGQUIT"] }],
    [["kong", "quit", "--wait=15"], { sleepSeconds: 15, signals: ["SIGQUIT"] }],
    [["kong", "quit", "-t", "30", "-w", "5"], { sleepSeconds: 5, signals: ["SIGQUIT"] }],
    [["apachectl", "-k", "graceful-stop"], { sleepSeconds: 0, signals: ["SIGWINCH"] }],
    [shellCommandOf("kill -s USR1 1"), { sleepSeconds: 0, signals: ["SIGUSR1"] }],
    [["kill", "-15", "1"], { sleepSeconds: 0, signals: ["SIGTERM"] }],
    [["kill", "1"], { sleepSeconds: 0, signals: ["SIGTERM"] }],
    [shellCommandOf("kill -QUIT 1 && kill -TERM 1"), { sleepSeconds: 0, signals: ["SIGQUIT", "SIGTERM"] }],
  ])("%j is read as its sleep time and its signals", (command, script) => {
    expect(parseHookCommand(command)).toEqual(script);
  });

  const UNKNOWN_COMMANDS: readonly (readonly string[])[] = [
    shellCommandOf("curl -X POST localhost:8080/drain; sleep 5"),
    shellCommandOf("sleep 5 || nginx -s quit"),
    shellCommandOf("sleep $DELAY"),
    shellCommandOf("sleep 5 & nginx -s quit"),
    shellCommandOf("echo draining > /tmp/drain"),
    shellCommandOf("sleep 5; echo draining > /dev/nullfile"),
    shellCommandOf("while true; do sleep 1; done"),
    shellCommandOf("exit 1"),
    shellCommandOf("kill -QUIT 42"),
    shellCommandOf(`sleep 5${"; true".repeat(500)}`),
    shellCommandOf("true"),
    shellCommandOf(""),
    ["nginx", "-s", "stop"],
    ["/opt/app/nginx", "-s", "quit"],
    ["kong", "stop"],
    ["kong", "quit", "--prefix=/kong"],
    ["sh", "-c", "sleep 5", "extra"],
    [],
  ];

  test.each(UNKNOWN_COMMANDS.map((command) => ({ command })))("$command is not recognised", ({ command }) => {
    expect(parseHookCommand(command)).toBeUndefined();
  });
});

const createContainer = (image: string, stopSignal?: string): RawObject => ({
  name: "web",
  image,
  ...(stopSignal === undefined ? {} : { lifecycle: { stopSignal } }),
});

const NGINX_QUIT = { exec: { command: ["nginx", "-s", "quit"] } };

describe("a hook that sends a signal", () => {
  test.each([
    ["nginx:1.27", "without a stopSignal", undefined],
    ["nginxinc/nginx-unprivileged:1.27", "without a stopSignal", undefined],
    ["openresty/openresty:1.27.1.2-alpine", "without a stopSignal", undefined],
    ["registry.example/web:1", "with stopSignal SIGQUIT", "SIGQUIT"],
  ])("is replaced in image %s %s, because the kubelet sends the same signal", (image, _, stopSignal) => {
    const container = createContainer(image, stopSignal);
    expect(findKnownHook({}, container, NGINX_QUIT, "none")).toEqual({
      reason: "It sends SIGQUIT, the container's stop signal.",
      sleepSeconds: 0,
    });
  });

  test.each([
    ["nginx:1.17.0", "without a stopSignal", undefined],
    ["nginx:1.27", "with stopSignal SIGTERM", "SIGTERM"],
    ["registry.example/web:1", "without a stopSignal", undefined],
  ])("stays in image %s %s, because the kubelet sends another or an unknown signal", (image, _, stopSignal) => {
    expect(findKnownHook({}, createContainer(image, stopSignal), NGINX_QUIT, "none")).toBeUndefined();
  });

  test("of Kong is replaced, and the drain delay is at least the time of its --wait", () => {
    const handler = { exec: { command: ["kong", "quit", "--wait=15"] } };
    expect(findKnownHook({}, createContainer("kong:3.9"), handler, "none")?.sleepSeconds).toBe(15);
    expect(findKnownHook({}, createContainer("kong:1.1"), handler, "none")).toBeUndefined();
  });

  test("stays in PHP's images for the command line, and is replaced in those for FPM", () => {
    const handler = { exec: { command: ["kill", "-QUIT", "1"] } };
    expect(findKnownHook({}, createContainer("php:8.3-cli"), handler, "none")).toBeUndefined();
    expect(findKnownHook({}, createContainer("php:8.3-fpm"), handler, "none")).toBeDefined();
  });

  test("stays if it sends another signal as well", () => {
    const handler = { exec: { command: shellCommandOf("kill -QUIT 1; kill -TERM 1") } };
    expect(findKnownHook({}, createContainer("nginx:1.27"), handler, "none")).toBeUndefined();
  });
});

describe("the shutdown hook of a gateway", () => {
  const createHttpGet = (path: string, port: number) => ({ httpGet: { path, port } });
  const createPod = (...command: readonly string[]): RawObject => ({
    spec: { containers: [{ name: "shutdown-manager", command }, { name: "envoy" }] },
  });

  test.each([
    ["Contour", "over HTTP", createPod("/bin/contour", "envoy", "shutdown-manager"), createHttpGet("/shutdown", 8090)],
    ["Contour", "as a command", {}, { exec: { command: ["/bin/contour", "envoy", "shutdown", "--check-delay=5s"] } }],
    [
      "Envoy Gateway",
      "over HTTP",
      createPod("envoy-gateway", "envoy", "shutdown-manager"),
      createHttpGet("/shutdown/ready", 19002),
    ],
    [
      "Envoy Gateway",
      "as a command",
      {},
      { exec: { command: ["envoy-gateway", "envoy", "shutdown", "--drain-timeout=60s"] } },
    ],
  ])("of %s %s is replaced only if the driver envoy drains Envoy", (program, _, pod, handler) => {
    const container = { name: "envoy" };
    expect(findKnownHook(pod, container, handler, "envoy")?.reason).toContain(program);
    expect(findKnownHook(pod, container, handler, "none")).toBeUndefined();
  });

  test("of ingress-nginx is replaced, because it sends the controller's stop signal", () => {
    expect(findKnownHook({}, {}, { exec: { command: ["/wait-shutdown"] } }, "none")?.reason).toContain("SIGTERM");
  });

  test.each([
    ["the shutdown manager's command is unknown", createPod("/bin/other"), createHttpGet("/shutdown", 8090)],
    [
      "the hook requests another path",
      createPod("/bin/contour", "envoy", "shutdown-manager"),
      createHttpGet("/quit", 8090),
    ],
    ["its command has an additional flag", {}, { exec: { command: ["/wait-shutdown", "--fast"] } }],
    ["its command is not a shutdown", {}, { exec: { command: ["contour", "envoy"] } }],
    ["it has a second handler", {}, { exec: { command: ["/wait-shutdown"] }, sleep: { seconds: 1 } }],
  ])("stays if %s", (_, pod, handler) => {
    expect(findKnownHook(pod, { name: "envoy" }, handler, "envoy")).toBeUndefined();
  });
});
