/** One exchange with the relay: a connection of its own, by address, trusting one CA and expecting one name. */
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:tls";
import { CREDENTIAL_SCHEME } from "../../contract/relay-wire.ts";
import { relayFailure } from "./relay-failure.ts";
import type { RelaySettings } from "./relay-settings.ts";

export type RelayCall = {
  readonly path: string;
  readonly body: string;
};

export type CallEars = {
  /** The head of the answer is here. */
  readonly onStatus: (status: number) => void;
  readonly onBytes: (chunk: Buffer) => void;
  /** Called once, whatever happened; `failure` is empty where the answer came to its end. */
  readonly onEnd: (failure: string) => void;
};

const CLOSED = relayFailure("closed");

/** The caller sets the limits; @returns what ends the exchange at once, without another word to the ears. */
export function callRelay(settings: RelaySettings, call: RelayCall, ears: CallEars): () => void {
  let open = true;
  const end = (failure: string): void => {
    if (!open) return;
    open = false;
    ears.onEnd(failure);
  };
  const { endpoint, serverName, ca } = settings;
  const headers: Record<string, string> = {
    host: serverName,
    authorization: `${CREDENTIAL_SCHEME} ${settings.credential}`,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(call.body)),
    connection: "close",
  };
  const outgoing = request(
    {
      path: call.path,
      method: "POST",
      headers: headers,
      createConnection: () => connect({ host: endpoint.address, port: endpoint.port, ca, servername: serverName }),
    },
    (incoming) => {
      if (!open) return;
      ears.onStatus(incoming.statusCode ?? 0);
      listen(incoming, (chunk) => (open ? ears.onBytes(chunk) : undefined), end);
    },
  );
  outgoing.on("error", (error) => end(relayFailure(error.message)));
  outgoing.on("close", () => end(CLOSED));
  outgoing.end(call.body);
  return () => {
    open = false;
    outgoing.destroy();
  };
}

function listen(incoming: IncomingMessage, onBytes: (chunk: Buffer) => void, end: (failure: string) => void): void {
  incoming.on("data", (chunk: Buffer) => onBytes(chunk));
  incoming.on("end", () => end(""));
  incoming.on("error", (error) => end(relayFailure(error.message)));
  incoming.on("close", () => end(CLOSED));
}
