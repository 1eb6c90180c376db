/** Builds and recognises the manager's container, and reads its environment. */
import { DEFAULT_SETTINGS, type DrainSettings } from "../../contract/drain-settings.ts";
import { MANAGER_BINARY, MANAGER_CONTAINER, VARIABLES } from "../../contract/manager-environment.ts";
import type { IssueRelayAccess, RelayAccess, RelayAccessRequest } from "../../contract/relay-access.ts";
import { formatServeFlags } from "../../contract/serve-flags.ts";
import { nameOf, type PullPolicy } from "../../kubernetes/pod.ts";
import { listAt, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { escapeReferences, unescapeReferences } from "../../kubernetes/references.ts";

export type ManagerInput = {
  readonly isNative: boolean;
  readonly image: string;
  readonly pullPolicy: PullPolicy | undefined;
  readonly settings: DrainSettings;
  readonly token: string;
  readonly recordText: string;
  readonly resources: RawObject | undefined;
  readonly mount: RawObject | undefined;
  readonly user: number | undefined;
  readonly relay: RelayAccess | undefined;
};

export function makeManager(input: ManagerInput): RawObject {
  const { isNative, image, pullPolicy, settings, token, recordText, resources, mount, user, relay } = input;
  return {
    name: MANAGER_CONTAINER,
    image,
    ...(pullPolicy === undefined ? {} : { imagePullPolicy: pullPolicy }),
    ...(isNative ? { restartPolicy: "Always" } : {}),
    args: ["serve", ...formatServeFlags(settings).map(escapeReferences)],
    env: [
      literalVariable(VARIABLES.token, token),
      fieldVariable(VARIABLES.podName, "metadata.name"),
      fieldVariable(VARIABLES.podUid, "metadata.uid"),
      fieldVariable(VARIABLES.podNamespace, "metadata.namespace"),
      literalVariable(VARIABLES.original, recordText),
      ...relayVariables(relay),
    ],
    lifecycle: { preStop: { exec: { command: drainCommand(settings.port) } } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      ...(user === undefined ? {} : { runAsUser: user }),
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    },
    ...(resources === undefined ? {} : { resources }),
    ...(mount === undefined ? {} : { volumeMounts: [mount] }),
  };
}

/** Recognises the manager by name and arguments, because annotations can be forged, copied or lost. */
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

/** About three times the number of flags of `serve`. */
const ARGUMENTS_LIMIT = 60;
/** Other webhooks add some variables to every container, but not hundreds. */
const VARIABLES_LIMIT = 500;

export function serveFlagsOf(container: RawObject | undefined): readonly string[] {
  const [command, ...flags] = listAt(container, "args").filter((arg) => typeof arg === "string");
  return command === "serve" ? flags.map(unescapeReferences) : [];
}

function drainCommand(port: number): readonly string[] {
  return [MANAGER_BINARY, "drain", ...(port === DEFAULT_SETTINGS.port ? [] : [`--port=${port}`])];
}

function literalVariable(name: string, value: string): RawObject {
  return { name, value: escapeReferences(value) };
}

/** Returns the value of a variable that {@link literalVariable} wrote. */
export function environmentValue(container: RawObject, name: string): string | undefined {
  const entry = objectsAt(container, "env").find((candidate) => candidate["name"] === name);
  const value = textAt(entry, "value");
  return value === undefined ? undefined : unescapeReferences(value);
}

function fieldVariable(name: string, fieldPath: string): RawObject {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

function readRelayAccess(container: RawObject): RelayAccess | undefined {
  const credential = environmentValue(container, VARIABLES.relayCredential);
  if (credential === undefined) return undefined;
  return {
    address: environmentValue(container, VARIABLES.relayAddress) ?? "",
    serverName: environmentValue(container, VARIABLES.relayName) ?? "",
    ca: environmentValue(container, VARIABLES.relayCa) ?? "",
    credential,
  };
}

export function hasCredential(container: RawObject, credential: string): boolean {
  return environmentValue(container, VARIABLES.relayCredential) === credential;
}

/** Includes the Pod's IP addresses, because the manager needs them only for requests to the relay. */
function relayVariables(relay: RelayAccess | undefined): readonly RawObject[] {
  if (relay === undefined) return [];
  return [
    fieldVariable(VARIABLES.podIps, "status.podIPs"),
    literalVariable(VARIABLES.relayAddress, relay.address),
    literalVariable(VARIABLES.relayName, relay.serverName),
    literalVariable(VARIABLES.relayCa, relay.ca),
    literalVariable(VARIABLES.relayCredential, relay.credential),
  ];
}

type RelayAccessInput = {
  readonly pod: RawObject;
  readonly namespace: string;
  readonly manager: RawObject | undefined;
  readonly staysInPlace: boolean;
  readonly issueRelayAccess: IssueRelayAccess | undefined;
};

/** Call this once per injection, because each call may issue a credential. If the result is `undefined`, existing relay variables stay. */
export function relayAccessFor(input: RelayAccessInput): RelayAccess | undefined {
  const existingAccess = input.manager === undefined ? undefined : readRelayAccess(input.manager);
  const issued = input.issueRelayAccess?.({
    namespace: input.namespace,
    ...ownerOf(input.pod),
    existingAccess,
  });
  return issued ?? (input.staysInPlace ? undefined : existingAccess);
}

type Owner = Pick<RelayAccessRequest, "ownerKind" | "ownerName" | "ownerUid">;

function ownerOf(pod: RawObject): Owner {
  const references = objectsAt(objectAt(pod, "metadata"), "ownerReferences");
  const owner = references.find((reference) => reference["controller"] === true);
  return {
    ownerKind: textAt(owner, "kind") ?? "",
    ownerName: textAt(owner, "name") ?? "",
    ownerUid: textAt(owner, "uid") ?? "",
  };
}
