/** Defines the paths that the build reads and writes. It writes only to the output folder and native/toolchain. */
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** The folder with the package.json and lock file that pin the compiler. */
export const TOOLCHAIN = `${ROOT}/native/toolchain`;
export const COMPILER = `${TOOLCHAIN}/node_modules/scriptc/dist/bootstrap.js`;
export const RUNTIME = `${TOOLCHAIN}/node_modules/@scriptc/runtime`;

/** The patch of the runtime; the build fails if a hunk does not apply. */
export const RUNTIME_PATCH = `${ROOT}/native/runtime.patch`;

/** The header that disables unused features of the TLS library. */
export const TLS_TRIM = `${ROOT}/native/mbedtls-trim.h`;

/** The bindings of the C library calls that the manager's source declares. */
export const LIBC_BINDINGS = `${ROOT}/native/libc.json`;

/** The folder of the preload library's C source. */
export const PRELOAD = `${ROOT}/native/preload`;

/** The layout of the memory page with the drain flag, shared with the manager. */
export const FLAG_HEADER = `${PRELOAD}/flag.h`;

export const MANAGER_SOURCE = "src/manager/native-main.ts";

/** @param into output folder; empty for build/native */
export function outputFolder(into: string): string {
  return into === "" ? `${ROOT}/build/native` : into;
}

/** An input of the runtime's build, because it contains the compile steps. */
export const COMPILE_STEPS = `${ROOT}/native/build/compile.ts`;
