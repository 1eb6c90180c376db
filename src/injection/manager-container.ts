/** The manager's container: how it is made and recognised. */
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
import { listAt, type RawObject } from "../kubernetes/raw-json.ts";
import { asWritten, withoutReferences } from "../kubernetes/references.ts";
import { fromField, literal } from "./environment.ts";
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
    args: ["serve", ...formatServeFlags(settings).map(withoutReferences)],
    env: [
      literal(TOKEN_VARIABLE, token),
      fromField(POD_NAME_VARIABLE, "metadata.name"),
      fromField(POD_UID_VARIABLE, "metadata.uid"),
      fromField(POD_NAMESPACE_VARIABLE, "metadata.namespace"),
      literal(ORIGINAL_VARIABLE, recordText),
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
  const args = listAt(container, "args");
  return (
    nameOf(container) === MANAGER_CONTAINER &&
    args[0] === "serve" &&
    args.length <= ARGUMENTS_LIMIT &&
    listAt(container, "env").length <= VARIABLES_LIMIT &&
    args.some((flag) => typeof flag === "string" && flag.startsWith("--port="))
  );
}

/** Three times what `serve` has flags. */
const ARGUMENTS_LIMIT = 60;
/** Other webhooks give some to every container, never hundreds. */
const VARIABLES_LIMIT = 500;

/** What the process sees of the flags of `serve`. */
export function serveFlagsOf(container: RawObject | undefined): readonly string[] {
  const [command, ...flags] = listAt(container, "args").filter((arg) => typeof arg === "string");
  return command === "serve" ? flags.map(asWritten) : [];
}

function drainCommand(port: number): readonly string[] {
  return [MANAGER_BINARY, "drain", ...(port === DEFAULT_SETTINGS.port ? [] : [`--port=${port}`])];
}
