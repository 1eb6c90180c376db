/** The manager's way to the relay: the variables that say it, those a Pod carries already, and who owns the Pod. */
import {
  POD_IPS_VARIABLE,
  RELAY_ADDRESS_VARIABLE,
  RELAY_CA_VARIABLE,
  RELAY_CREDENTIAL_VARIABLE,
  RELAY_NAME_VARIABLE,
} from "../contract/manager-environment.ts";
import type { GiveRelayAccess, RelayAccess, RelayAccessQuestion } from "../contract/relay-access.ts";
import { objectAt, objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import { environmentValue, fromField, literal } from "./environment.ts";

/** What stands in the manager's container; `undefined` when it carries no credential. */
function standingRelay(container: RawObject): RelayAccess | undefined {
  const credential = environmentValue(container, RELAY_CREDENTIAL_VARIABLE);
  if (credential === undefined) return undefined;
  return {
    address: environmentValue(container, RELAY_ADDRESS_VARIABLE) ?? "",
    serverName: environmentValue(container, RELAY_NAME_VARIABLE) ?? "",
    ca: environmentValue(container, RELAY_CA_VARIABLE) ?? "",
    credential,
  };
}

/** The addresses are asked about, so they come with the relay and not without it. */
export function relayVariables(relay: RelayAccess | undefined): readonly RawObject[] {
  if (relay === undefined) return [];
  return [
    fromField(POD_IPS_VARIABLE, "status.podIPs"),
    literal(RELAY_ADDRESS_VARIABLE, relay.address),
    literal(RELAY_NAME_VARIABLE, relay.serverName),
    literal(RELAY_CA_VARIABLE, relay.ca),
    literal(RELAY_CREDENTIAL_VARIABLE, relay.credential),
  ];
}

export type RelayRequest = {
  readonly pod: RawObject;
  readonly namespace: string;
  /** The manager's container as an earlier pass left it. */
  readonly standing: RawObject | undefined;
  /** Whether that container stays where it is, with every variable that is not replaced. */
  readonly staysInPlace: boolean;
  readonly giveRelayAccess: GiveRelayAccess | undefined;
};

/** To be asked once per injection: each answer may be a new credential. `undefined` leaves standing variables alone. */
export function relayAccessFor(request: RelayRequest): RelayAccess | undefined {
  const standing = request.standing === undefined ? undefined : standingRelay(request.standing);
  const given = request.giveRelayAccess?.({ namespace: request.namespace, ...ownerOf(request.pod), standing });
  return given ?? (request.staysInPlace ? undefined : standing);
}

type Owner = Pick<RelayAccessQuestion, "ownerKind" | "ownerName" | "ownerUid">;

/** The one owner that controls the Pod, as far as its reference is text. */
function ownerOf(pod: RawObject): Owner {
  const references = objectsAt(objectAt(pod, "metadata"), "ownerReferences");
  const owner = references.find((reference) => reference["controller"] === true);
  return {
    ownerKind: textAt(owner, "kind") ?? "",
    ownerName: textAt(owner, "name") ?? "",
    ownerUid: textAt(owner, "uid") ?? "",
  };
}
