/** The manager's container: how it is made, recognised, and brought up to date. */
import { DEFAULT_SETTINGS, type DrainSettings } from "../contract/drain-settings.ts";
import {
  MANAGER_BINARY,
  MANAGER_CONTAINER,
  ORIGINAL_VARIABLE,
  POD_NAME_VARIABLE,
  POD_NAMESPACE_VARIABLE,
  POD_UID_VARIABLE,
  TOKEN_VARIABLE,
} from "../contract/manager-environment.ts";
import type { RelayAccess } from "../contract/relay-access.ts";
import { formatServeFlags } from "../contract/serve-flags.ts";
import { nameOf } from "../kubernetes/pod.ts";
import { covers, listAt, type RawObject } from "../kubernetes/raw-json.ts";
import { fromField } from "./environment.ts";
import { relayVariables } from "./relay-variables.ts";

export type ManagerMaking = {
  readonly native: boolean;
  readonly image: string;
  readonly settings: DrainSettings;
  readonly token: string;
  readonly recordText: string;
  readonly resources: RawObject | undefined;
  /** A driver's socket folder, read-only. */
  readonly mount: RawObject | undefined;
  /** The user a driver's socket belongs to; `undefined` means our own. */
  readonly user: number | undefined;
  readonly relay: RelayAccess | undefined;
};

/** Of no image in particular, and not root. */
const OUR_USER = 65_532;

export function makeManager(making: ManagerMaking): RawObject {
  const { native, image, settings, token, recordText, resources, mount, user, relay } = making;
  return {
    name: MANAGER_CONTAINER,
    image,
    ...(native ? { restartPolicy: "Always" } : {}),
    args: ["serve", ...formatServeFlags(settings)],
    env: [
      { name: TOKEN_VARIABLE, value: token },
      fromField(POD_NAME_VARIABLE, "metadata.name"),
      fromField(POD_UID_VARIABLE, "metadata.uid"),
      fromField(POD_NAMESPACE_VARIABLE, "metadata.namespace"),
      { name: ORIGINAL_VARIABLE, value: recordText },
      ...relayVariables(relay),
    ],
    lifecycle: { preStop: { exec: { command: drainCommand(settings.port) } } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: user ?? OUR_USER,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    },
    ...(resources === undefined ? {} : { resources }),
    ...(mount === undefined ? {} : { volumeMounts: [mount] }),
  };
}

/** By name and arguments, never by an annotation: those can be forged, copied and lost. */
export function isManager(container: RawObject): boolean {
  const [command, ...flags] = listAt(container, "args");
  return (
    nameOf(container) === MANAGER_CONTAINER &&
    command === "serve" &&
    flags.some((flag) => typeof flag === "string" && flag.startsWith("--port="))
  );
}

/**
 * The container as it stands with our parts renewed where they differ. What the API server or other webhooks added
 * (defaults, mounts, variables, limits) stays, or every pass would undo theirs.
 */
export function renewManager(standing: RawObject, wanted: RawObject): RawObject {
  const renewed: { [key: string]: unknown } = { ...standing };
  for (const [key, value] of Object.entries(wanted)) renewed[key] = renewPart(key, standing[key], value);
  return Object.keys(renewed).every((key) => renewed[key] === standing[key]) ? standing : renewed;
}

function renewPart(key: string, standing: unknown, wanted: unknown): unknown {
  if (key === "image") return isSameImage(standing, wanted) ? standing : wanted;
  if (key === "env") return mergedBy("name", standing, wanted);
  if (key === "volumeMounts") return mergedBy("mountPath", standing, wanted);
  return covers(standing, wanted) ? standing : wanted;
}

/** A mirror changes the registry in front; the name with its tag or digest stays. */
function isSameImage(standing: unknown, wanted: unknown): boolean {
  const last = (image: unknown) => (typeof image === "string" ? image.slice(image.lastIndexOf("/") + 1) : undefined);
  return last(standing) !== undefined && last(standing) === last(wanted);
}

function mergedBy(key: string, standing: unknown, wanted: unknown): unknown {
  if (!Array.isArray(standing) || !Array.isArray(wanted)) return wanted;
  const merged: unknown[] = [...standing];
  for (const entry of wanted as readonly RawObject[]) {
    const at = standing.findIndex((candidate) => covers(candidate, { [key]: entry[key] }));
    if (at < 0) merged.push(entry);
    else if (!covers(standing[at], entry)) merged[at] = entry;
  }
  return merged.length === standing.length && merged.every((entry, at) => entry === standing[at]) ? standing : merged;
}

function drainCommand(port: number): readonly string[] {
  return [MANAGER_BINARY, "drain", ...(port === DEFAULT_SETTINGS.port ? [] : [`--port=${port}`])];
}
