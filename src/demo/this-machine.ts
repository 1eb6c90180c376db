/** What the demo asks the file system before it starts. */
import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import type { MachinePorts } from "./rollout/runnable.ts";

export function thisMachine(directory: string, searchPath: string): MachinePorts {
  return {
    isProgram: (path) => kindAt(path) === "file" && isPermitted(path, constants.X_OK),
    isFolder: (path) => kindAt(path) === "folder",
    directory,
    searchPath,
  };
}

/** A picture that cannot be written should not be found out after the run. An empty path is no picture. */
export function pictureProblems(path: string): readonly string[] {
  if (path === "") return [];
  const kind = kindAt(path);
  const isWritable = kind === "file" ? isPermitted(path, constants.W_OK) : isPermitted(dirname(path), constants.W_OK);
  if (isWritable && kind !== "folder") return [];
  return [`--svg got "${path}", which cannot be written; name a file in a folder that exists.`];
}

function kindAt(path: string): "file" | "folder" | "nothing" {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return "nothing";
  }
}

function isPermitted(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
