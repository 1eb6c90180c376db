/** Names of the environment variables the webhook writes and the manager or a second pass reads. */

export const VARIABLES = {
  /** Random per Pod; every call to the manager carries it as the first path segment. */
  token: "LASTCALL_TOKEN",

  /**
   * Compact JSON of what injection changed, read by a second pass and by uninject. Of all of it the manager reads only
   * `chain`: by container the hook it performs after the drain and before it answers that container's hold, as
   * `{"httpGet":{"port":8080,"path":"/bye"}}` (plain HTTP on loopback; `httpHeaders` when set) or
   * `{"sleep":{"seconds":5}}`. The grace period has room for each: the seconds of a sleep, 5 s for a GET.
   */
  original: "LASTCALL_ORIGINAL",

  podName: "POD_NAME",
  podUid: "POD_UID",
  podNamespace: "POD_NAMESPACE",

  /** Comma-separated addresses of the Pod, one per family. */
  podIps: "POD_IPS",

  /**
   * Where the relay is: `ADDRESS:PORT` of the webhook's Service, IPv6 in brackets. Without it, or without one of the next
   * three, the manager drains by its floor.
   */
  relayAddress: "LASTCALL_RELAY_ADDRESS",
  /** The server name the relay's certificate must carry, `relay-<generation>.lastcall.internal`: also the TLS SNI. */
  relayName: "LASTCALL_RELAY_NAME",
  /** The only CA that may vouch for the relay: base64 of the certificate's DER, without line breaks. */
  relayCa: "LASTCALL_RELAY_CA",
  /** `kid.payload.mac`: allows questions about, and reports for, Pods of one namespace. See `relay-wire.ts`. */
  relayCredential: "LASTCALL_RELAY_CREDENTIAL",
};

/** Name of the injected container. */
export const MANAGER_CONTAINER = "lastcall";

/** Where the binary lies in the manager's image. */
export const MANAGER_BINARY = "/lastcall";

/** The preloaded library: a file in the root of the manager's image, which is a volume of the Pod where an app loads it. */
const PRELOAD_FILE = "lastcall-preload.so";
export const PRELOAD_VOLUME = "lastcall-preload";
export const PRELOAD_FOLDER = "/lastcall-preload";
export const PRELOAD_LIBRARY = `${PRELOAD_FOLDER}/${PRELOAD_FILE}`;
export const PRELOAD_VARIABLE = "LD_PRELOAD";
