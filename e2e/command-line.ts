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

export const USAGE = `usage: npm run cluster -- COMMAND

  up [--kubernetes ${Object.keys(KUBERNETES_VERSIONS).join("|")}] [--install]   starts a real Kubernetes of two nodes on this machine
  down                                        stops it, and removes its files, cgroups and network devices
  status [--json]                             prints the nodes and the kubeconfig
  images                                      builds this work tree's images and imports them on both nodes
  build NAME...                               builds programs and prints their folders: ${Object.keys(GO_MODULES).join(", ")}

--install installs missing Debian packages with apt-get.`;

export type Command =
  | { readonly kind: "up"; readonly minor: Minor; readonly install: boolean }
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
  if (command === "up") return upCommand(parsed.values.kubernetes ?? NEWEST_MINOR, parsed.values.install === true);
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

export function isMinor(text: string): text is Minor {
  return Object.hasOwn(KUBERNETES_VERSIONS, text);
}

function upCommand(minor: string, install: boolean): Command {
  if (isMinor(minor)) return { kind: "up", minor, install };
  const expected = Object.keys(KUBERNETES_VERSIONS).join(", ");
  return { kind: "invalid", message: `--kubernetes: got "${minor}", expected one of ${expected}.` };
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
        install: { type: "boolean" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}
