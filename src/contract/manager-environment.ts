/** Names of the environment variables, container, binary and library that injection adds to a Pod. */

export const VARIABLES = {
  /** A random text per Pod, which is the first path segment of every call to the manager. */
  token: "LASTCALL_TOKEN",

  /**
   * Compact JSON of the values that injection replaced, read by later admissions and by `uninject`. The manager reads only `chain`, which
   * contains for each container the hook that the manager runs after the drain, before it answers the container's hold:
   * `{"httpGet":{"port":8080,"path":"/bye"}}` (HTTP on loopback; `httpHeaders` when set) or `{"sleep":{"seconds":5}}`. The
   * grace period includes the time of these hooks: the seconds of a sleep, 5 s for a GET.
   */
  original: "LASTCALL_ORIGINAL",

  podName: "POD_NAME",
  podUid: "POD_UID",
  podNamespace: "POD_NAMESPACE",

  /** Comma-separated, one per address family. */
  podIps: "POD_IPS",

  /**
   * `ADDRESS:PORT` of the relay's Service, IPv6 in brackets. If this variable or one of the next three is missing, the manager does not
   * use a relay, and waits for its drain delay instead of the withdrawal.
   */
  relayAddress: "LASTCALL_RELAY_ADDRESS",
  /** Name in the relay's certificate and TLS SNI: `relay-<fingerprint of the CA>.lastcall.internal`. */
  relayName: "LASTCALL_RELAY_NAME",
  /** The only trusted CA of the relay: base64 of the certificate's DER, without line breaks. */
  relayCa: "LASTCALL_RELAY_CA",
  /** `kid.payload.mac`: authorizes requests and reports for Pods of one namespace. See `relay-wire.ts`. */
  relayCredential: "LASTCALL_RELAY_CREDENTIAL",
};

export const MANAGER_CONTAINER = "lastcall";

/** Path in the manager's image. */
export const MANAGER_BINARY = "/lastcall";

/** The preload library, in the root of the manager's image; apps mount that image as a volume. */
const PRELOAD_FILE = "lastcall-preload.so";
export const PRELOAD_VOLUME = "lastcall-preload";
export const PRELOAD_FOLDER = "/lastcall-preload";
export const PRELOAD_LIBRARY = `${PRELOAD_FOLDER}/${PRELOAD_FILE}`;
export const PRELOAD_VARIABLE = "LD_PRELOAD";
