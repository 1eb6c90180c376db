/** Reads the relay's address, name, CA and credential from the variables that injection wrote. All have to be valid. Pure. */
import { VARIABLES } from "../../contract/manager-environment.ts";
import type { Environment } from "../platform.ts";
import type { RelayEndpoint } from "../ports.ts";
import { canonicalAddress } from "../sockets/address-text.ts";
import { shortReason } from "./ipc-messages.ts";

export type RelaySettings = {
  readonly endpoint: RelayEndpoint;
  readonly serverName: string;
  readonly ca: string;
  readonly credential: string;
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly addresses: readonly string[];
};

type RelaySettingsReading = {
  readonly settings: RelaySettings | undefined;
  readonly problem: string;
};

export const NO_ENDPOINT: RelayEndpoint = { address: "", port: 0 };

const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;
const CREDENTIAL = /^[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{1,4096}\.[A-Za-z0-9_-]{1,128}$/;
const BASE64 = /^[A-Za-z0-9+/]{64,16384}={0,2}$/;
const UID = /^[A-Za-z0-9-]{1,128}$/;
const ADDRESSES_LIMIT = 2;
const PEM_LINE_CHARACTERS = 64;

export function readRelaySettings(environment: Environment): RelaySettingsReading {
  const { relayAddress, relayName, relayCa, relayCredential } = environment;
  if (relayAddress === "" && relayName === "" && relayCa === "" && relayCredential === "") return NO_RELAY_SETTINGS;
  const endpoint = endpointOf(relayAddress);
  const problem = firstProblem(environment, endpoint);
  if (problem !== "") return { settings: undefined, problem };
  return {
    settings: {
      endpoint,
      serverName: relayName,
      ca: pemOf(relayCa),
      credential: relayCredential,
      namespace: environment.podNamespace,
      pod: environment.podName,
      uid: environment.podUid,
      addresses: addressesOf(environment.podIps),
    },
    problem: "",
  };
}

const NO_RELAY_SETTINGS: RelaySettingsReading = { settings: undefined, problem: "" };

/** Messages do not contain the values of the CA, which is long, and of the credential, which is secret. */
function firstProblem(environment: Environment, endpoint: RelayEndpoint): string {
  const { relayAddress, relayName, relayCa, relayCredential } = environment;
  if (endpoint.port === 0)
    return `${VARIABLES.relayAddress} is "${shortReason(relayAddress)}", expected an IP address with a port, such as 10.0.0.10:443 or [fd00::10]:443`;
  if (!NAME.test(relayName))
    return `${VARIABLES.relayName} is "${shortReason(relayName)}", expected a server name, such as relay-1.lastcall.internal`;
  if (!isCertificate(relayCa)) return `${VARIABLES.relayCa} is invalid, expected base64 of a certificate's DER`;
  if (!CREDENTIAL.test(relayCredential))
    return `${VARIABLES.relayCredential} is not a credential, expected three parts joined by dots`;
  if (!NAME.test(environment.podNamespace)) return `${VARIABLES.podNamespace} is not the name of a namespace`;
  if (!NAME.test(environment.podName)) return `${VARIABLES.podName} is not the name of a Pod`;
  if (!UID.test(environment.podUid)) return `${VARIABLES.podUid} is not the uid of a Pod`;
  return "";
}

function endpointOf(text: string): RelayEndpoint {
  const separatorAt = text.lastIndexOf(":");
  const host = text.slice(0, Math.max(0, separatorAt));
  const digits = text.slice(separatorAt + 1);
  const bareHost = host.startsWith("[") && host.endsWith("]") ? host.slice(1, host.length - 1) : host;
  const isBracketed = bareHost !== host;
  const address = isAddress(bareHost) ? canonicalAddress(bareHost) : "";
  const port = /^[1-9][0-9]{0,4}$/.test(digits) ? Number(digits) : 0;
  if (address === "" || bareHost.includes(":") !== isBracketed || port > 65_535) return NO_ENDPOINT;
  return { address, port };
}

function isAddress(text: string): boolean {
  if (/^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(text)) return text.split(".").every((part) => Number(part) <= 255);
  return text.includes(":") && /^[0-9a-fA-F:]{2,39}(\.[0-9.]{1,15})?$/.test(text);
}

function addressesOf(text: string): readonly string[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter(isAddress).slice(0, ADDRESSES_LIMIT);
}

/** Checks only the outermost DER element. The native build's TLS library would end the process at an invalid certificate. */
function isCertificate(text: string): boolean {
  if (!BASE64.test(text) || text.length % 4 !== 0) return false;
  const der = Buffer.from(text, "base64");
  // A SEQUENCE with a two-byte length, which ends with the last byte.
  return (
    der.length > 4 && der.readUInt8(0) === 0x30 && der.readUInt8(1) === 0x82 && der.readUInt16BE(2) + 4 === der.length
  );
}

function pemOf(text: string): string {
  let pem = "-----BEGIN CERTIFICATE-----\n";
  for (let at = 0; at < text.length; at = at + PEM_LINE_CHARACTERS)
    pem = `${pem}${text.slice(at, at + PEM_LINE_CHARACTERS)}\n`;
  return `${pem}-----END CERTIFICATE-----\n`;
}
