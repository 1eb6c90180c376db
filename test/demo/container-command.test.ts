import { describe, expect, test } from "vitest";
import { scopeArguments } from "../../src/demo/network/loopback-network.ts";
import {
  type CommandContext,
  containerEnvironment,
  execCommand,
  expandVariables,
  mainCommand,
} from "../../src/demo/pods/container-run.ts";
import { planPod } from "../../src/demo/pods/pod-plan.ts";

const PLAN = planPod({
  metadata: { name: "web-1", namespace: "shop", uid: "u-1" },
  spec: {
    initContainers: [{ name: "lastcall", restartPolicy: "Always", args: ["serve", "--port=17890"] }],
    containers: [
      {
        name: "app",
        command: ["run", "$(GREETING)"],
        args: ["$$(GREETING)", "$(UNSET)"],
        env: [
          { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
          { name: "GREETING", value: "hi $(POD_NAME)" },
        ],
      },
    ],
  },
});

const CONTEXT: CommandContext = {
  address: "127.70.0.10",
  managerProgram: ["node", "manager.ts"],
  preloadLibrary: "",
  managerArguments: (args) => scopeArguments("127.70.0.10", args),
  imageEnvironment: { PATH: "/bin" },
};

function containerNamed(name: string) {
  const found = PLAN.containers.find((container) => container.name === name);
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}

test("a container's variables are literals or references, and the shell's environment is not inherited", () => {
  expect(containerEnvironment(containerNamed("app"), PLAN, CONTEXT)).toEqual({
    PATH: "/bin",
    HOSTNAME: "web-1",
    POD_NAME: "web-1",
    POD_IP: "127.70.0.10",
    GREETING: "hi web-1",
  });
});

test("$(NAME) is expanded in a command, $$ becomes $, and an unknown name stays unchanged", () => {
  const command = mainCommand(containerNamed("app"), { GREETING: "hello" }, CONTEXT);
  expect(command).toEqual(["run", "hello", "$(GREETING)", "$(UNSET)"]);
  expect(expandVariables("$$", {})).toBe("$");
});

test("the manager's container and exec hooks that call /lastcall run the local manager", () => {
  expect(mainCommand(containerNamed("lastcall"), {}, CONTEXT)).toEqual([
    "node",
    "manager.ts",
    "serve",
    "--port=17890",
    "--address-scope=127.70.0.10",
  ]);
  expect(execCommand(["/lastcall", "drain"], CONTEXT)).toEqual([
    "node",
    "manager.ts",
    "drain",
    "--address-scope=127.70.0.10",
  ]);
  expect(execCommand(["/bin/lastcall"], CONTEXT)).toEqual(["/bin/lastcall"]);
});

test("on a shared network, loopback addresses in manager URLs are replaced by the Pod's address", () => {
  const args = scopeArguments("127.70.0.10", ["serve", "--drain-url=http://127.0.0.1:8080/drain", "--driver=http"]);
  expect(args).toEqual([
    "serve",
    "--drain-url=http://127.70.0.10:8080/drain",
    "--driver=http",
    "--address-scope=127.70.0.10",
  ]);
});

describe("the preload library of an image volume", () => {
  const preloading = planPod({
    spec: {
      containers: [
        { name: "app", env: [{ name: "LD_PRELOAD", value: "/own.so:/lastcall-preload/lastcall-preload.so" }] },
        { name: "other", env: [{ name: "LD_PRELOAD", value: "/own.so" }] },
      ],
    },
  });
  const preloadOf = (index: number, preloadLibrary: string): string | undefined => {
    const container = preloading.containers[index];
    if (container === undefined) throw new Error(`no container ${index}`);
    return containerEnvironment(container, preloading, { ...CONTEXT, preloadLibrary })["LD_PRELOAD"];
  };

  test("is replaced by the local build", () => {
    expect(preloadOf(0, "/build/here.so")).toBe("/own.so:/build/here.so");
  });

  test("is removed if there is no local build, and the app's own LD_PRELOAD is kept", () => {
    expect(preloadOf(0, "")).toBe("/own.so:");
    expect(preloadOf(1, "/build/here.so")).toBe("/own.so");
  });
});
