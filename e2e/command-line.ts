/** Parses the arguments of `npm run cluster --`. */
import { parseArgs } from "node:util";
import {
  GO_MODULES,
  isModuleName,
  KUBERNETES_VERSIONS,
  type Minor,
  type ModuleName,
  NEWEST_MINOR,
} from "./build/module-table.ts";
import { type ClusterSettings, PROXY_MODES, type ProxyMode } from "./cluster/record.ts";

export const USAGE = `usage: npm run cluster -- COMMAND

  up [--kubernetes ${Object.keys(KUBERNETES_VERSIONS).join("|")}] [--proxy-mode ${PROXY_MODES.join("|")}] [--install]
                                              starts a real Kubernetes of two nodes on this machine
  down                                        stops it, and removes its files, cgroups and network devices
  status [--json]                             prints the nodes and the kubeconfig
  images                                      builds this work tree's images and imports them on both nodes
  build NAME...                               builds programs and prints their folders: ${Object.keys(GO_MODULES).join(", ")}

--install installs missing Debian packages with apt-get.`;

export type Command =
  | { readonly kind: "up"; readonly settings: ClusterSettings; readonly install: boolean }
  | { readonly kind: "down" }
  | { readonly kind: "images" }
  | { readonly kind: "status"; readonly json: boolean }
  | { readonly kind: "build"; readonly names: readonly ModuleName[] }
  | { readonly kind: "help" }
  | { readonly kind: "invalid"; readonly message: string };

export function readCommand(args: readonly string[]): Command {
  const parsed = attemptParse(args);
  if ("message" in parsed) return { kind: "invalid", message: parsed.message };
  const [command, ...names] = parsed.positionals;
  if (parsed.values.help === true || command === "help") return { kind: "help" };
  if (command === "build") return buildCommand(names);
  if (names.length > 0)
    return { kind: "invalid", message: `${command}: got "${names.join(" ")}", expected no argument.` };
  if (command === "up") return upCommand(parsed.values);
  if (command === "down" || command === "images") return { kind: command };
  if (command === "status") return { kind: "status", json: parsed.values.json === true };
  return {
    kind: "invalid",
    message:
      command === undefined
        ? "A command is missing."
        : `Command "${command}" does not exist; expected one of up, down, status, images, build.`,
  };
}

type SettingsFlags = { readonly kubernetes?: string; readonly "proxy-mode"?: string };

/** Reads the settings of the cluster from their flags, which `npm run e2e` has too. */
export function readClusterSettings(flags: SettingsFlags): ClusterSettings | { readonly message: string } {
  const { kubernetes: minor = NEWEST_MINOR, "proxy-mode": proxyMode = PROXY_MODES[0] } = flags;
  const refuse = (flag: string, value: string, expected: readonly string[]) => ({
    message: `${flag}: got "${value}", expected one of ${expected.join(", ")}.`,
  });
  if (!isMinor(minor)) return refuse("--kubernetes", minor, Object.keys(KUBERNETES_VERSIONS));
  return isProxyMode(proxyMode) ? { minor, proxyMode } : refuse("--proxy-mode", proxyMode, PROXY_MODES);
}

function isMinor(text: string): text is Minor {
  return Object.hasOwn(KUBERNETES_VERSIONS, text);
}

function isProxyMode(text: string): text is ProxyMode {
  return PROXY_MODES.some((mode) => mode === text);
}

function upCommand(flags: SettingsFlags & { readonly install?: boolean }): Command {
  const settings = readClusterSettings(flags);
  if ("message" in settings) return { kind: "invalid", message: settings.message };
  return { kind: "up", settings, install: flags.install === true };
}

function buildCommand(names: readonly string[]): Command {
  const validNames = names.filter(isModuleName);
  if (names.length > 0 && validNames.length === names.length) return { kind: "build", names: validNames };
  const invalidNames = names.filter((name) => !isModuleName(name)).map((name) => `"${name}"`);
  const expected = Object.keys(GO_MODULES).join(", ");
  return {
    kind: "invalid",
    message: `build: got ${invalidNames.join(", ") || "no name"}, expected one or more of ${expected}.`,
  };
}

function attemptParse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        kubernetes: { type: "string" },
        "proxy-mode": { type: "string" },
        install: { type: "boolean" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}
