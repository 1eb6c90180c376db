/** Tests which containers count as shutting down gracefully at their stop signal. */
import { describe, expect, test } from "vitest";
import { shutsDownGracefully } from "../../src/injection/hooks/graceful-shutdown.ts";

const createContainerWithStopSignal = (signal: string) => ({ lifecycle: { stopSignal: signal } });

describe("an image without a command of the Pod", () => {
  test.for([
    ["nginx:1.29", {}, true],
    ["docker.io/library/nginx:1.19.5", {}, true],
    ["nginx:1.18.0", {}, false],
    ["nginx:1.18.0", createContainerWithStopSignal("SIGQUIT"), true],
    ["nginx:1.29", createContainerWithStopSignal("SIGTERM"), false],
    ["haproxy:3.2", {}, true],
    ["httpd:2.4.65", {}, true],
    ["caddy:2.10", {}, true],
    ["caddy:2.10", createContainerWithStopSignal("SIGKILL"), false],
    ["php:8.4-fpm", {}, false],
    ["envoyproxy/envoy:v1.36.0", {}, false],
    ["varnish:7", {}, false],
    ["shop/nginx:1.29", {}, false],
    ["", {}, false],
  ] as const)("%s with %j shuts down gracefully: %s", ([image, more, isGraceful]) => {
    expect(shutsDownGracefully({ image, ...more })).toBe(isGraceful);
  });
});

describe("a command line of the Pod", () => {
  test.for([
    [["gunicorn", "api:app"], true],
    [["/usr/local/bin/uvicorn", "api:app"], true],
    [["python", "-m", "hypercorn", "api:app"], true],
    [["tini", "--", "python3", "-m", "gunicorn", "api:app"], true],
    [["/usr/bin/dumb-init", "granian", "api:app"], true],
    [["bundle", "exec", "puma"], true],
    [["sh", "-c", "gunicorn api:app"], false],
    [["sh", "-c", "exec gunicorn api:app"], false],
    [["python", "api.py"], false],
    [["python", "-m"], false],
    [["node", "gunicorn"], false],
    [[7], false],
  ] as const)("%j shuts down gracefully: %s", ([words, isGraceful]) => {
    expect(shutsDownGracefully({ image: "nginx:1.29", command: words })).toBe(isGraceful);
    expect(shutsDownGracefully({ image: "nginx:1.29", command: words.slice(0, 1), args: words.slice(1) })).toBe(
      isGraceful,
    );
  });

  test("with another stop signal than SIGTERM is not graceful", () => {
    expect(shutsDownGracefully({ command: ["gunicorn"], ...createContainerWithStopSignal("SIGTERM") })).toBe(true);
    expect(shutsDownGracefully({ command: ["gunicorn"], ...createContainerWithStopSignal("SIGQUIT") })).toBe(false);
  });
});
