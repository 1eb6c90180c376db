/** The redirection that Istio's init container makes in a Pod, in words of iptables. */
import { ISTIO, UIDS } from "./istio-ports.ts";

/** @param excluded ports whose incoming connections are left alone */
export function redirection(excluded: readonly number[]): string {
  const rules = [
    ...["ISTIO_INBOUND", "ISTIO_REDIRECT", "ISTIO_IN_REDIRECT", "ISTIO_OUTPUT"].map((chain) => `-N ${chain}`),
    `-A ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports ${ISTIO.outbound}`,
    `-A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports ${ISTIO.inbound}`,
    "-A PREROUTING -p tcp -j ISTIO_INBOUND",
    ...excluded.map((port) => `-A ISTIO_INBOUND -p tcp --dport ${port} -j RETURN`),
    "-A ISTIO_INBOUND -p tcp -j ISTIO_IN_REDIRECT",
    "-A OUTPUT -p tcp -j ISTIO_OUTPUT",
    "-A ISTIO_OUTPUT -o lo -s 127.0.0.6/32 -j RETURN",
    `-A ISTIO_OUTPUT -o lo ! -d 127.0.0.1/32 -p tcp -m owner --uid-owner ${UIDS.proxy} -j ISTIO_IN_REDIRECT`,
    `-A ISTIO_OUTPUT -o lo -m owner ! --uid-owner ${UIDS.proxy} -j RETURN`,
    `-A ISTIO_OUTPUT -m owner --uid-owner ${UIDS.proxy} -j RETURN`,
    "-A ISTIO_OUTPUT -d 127.0.0.1/32 -j RETURN",
    "-A ISTIO_OUTPUT -j ISTIO_REDIRECT",
  ];
  return rules.map((rule) => `iptables -w 10 -t nat ${rule}`).join(" && ");
}
