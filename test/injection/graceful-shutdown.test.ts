/** Tests which containers count as shutting down gracefully at their stop signal. */
import { describe, expect, test } from "vitest";
import { shutsDownGracefully } from "../../src/injection/hooks/graceful-shutdown.ts";

const createContainerWithStopSignal = (signal: string) => ({ lifecycle: { stopSignal: signal } });

describe("in a container without a command, the image", () => {
  test.for([
    ["nginx:1.29", "its own stop signal", "counts"],
    ["docker.io/library/nginx:1.19.5", "its own stop signal", "counts"],
    ["nginx:1.18.0", "its own stop signal", "does not count"],
    ["nginx:1.18.0", "SIGQUIT", "counts"],
    ["nginx:1.29", "SIGTERM", "does not count"],
    ["haproxy:3.2", "its own stop signal", "counts"],
    ["httpd:2.4.65", "its own stop signal", "counts"],
    ["caddy:2.10", "its own stop signal", "counts"],
    ["caddy:2.10", "SIGKILL", "does not count"],
    ["php:8.4-fpm", "its own stop signal", "does not count"],
    ["envoyproxy/envoy:v1.36.0", "its own stop signal", "does not count"],
    ["varnish:7", "its own stop signal", "does not count"],
    ["shop/nginx:1.29", "its own stop signal", "does not count"],
    ["", "its own stop signal", "does not count"],
  ] as const)("%j with %s %s as graceful", ([image, stopSignal, verb]) => {
    const more = stopSignal === "its own stop signal" ? {} : createContainerWithStopSignal(stopSignal);
    expect(shutsDownGracefully({ image, ...more })).toBe(verb === "counts");
  });
});

describe("the command line of a container", () => {
  test.for([
    [["gunicorn", "api:app"], "counts"],
    [["/usr/local/bin/uvicorn", "api:app"], "counts"],
    [["python", "-m", "hypercorn", "api:app"], "counts"],
    [["tini", "--", "python3", "-m", "gunicorn", "api:app"], "counts"],
    [["/usr/bin/dumb-init", "granian", "api:app"], "counts"],
    [["bundle", "exec", "puma"], "counts"],
    [["sh", "-c", "gunicorn api:app"], "does not count"],
    [["sh", "-c", "exec gunicorn api:app"], "does not count"],
    [["python", "api.py"], "does not count"],
    [["python", "-m"], "does not count"],
    [["node", "gunicorn"], "does not count"],
    [[7], "does not count"],
  ] as const)("%j %s as graceful", ([words, verb]) => {
    const isGraceful = verb === "counts";
    expect(shutsDownGracefully({ image: "nginx:1.29", command: words })).toBe(isGraceful);
    expect(shutsDownGracefully({ image: "nginx:1.29", command: words.slice(0, 1), args: words.slice(1) })).toBe(
      isGraceful,
    );
  });

  test("does not count as graceful with another stop signal than SIGTERM", () => {
    expect(shutsDownGracefully({ command: ["gunicorn"], ...createContainerWithStopSignal("SIGTERM") })).toBe(true);
    expect(shutsDownGracefully({ command: ["gunicorn"], ...createContainerWithStopSignal("SIGQUIT") })).toBe(false);
  });
});
