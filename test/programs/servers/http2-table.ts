/** Servers of HTTP/2 without a driver, as a client without TLS meets them. A new server is a new row. */
import { APACHE_H2, CADDY_H2, HAPROXY_H2, NGINX_H2 } from "./proxy-configurations.ts";
import { SCRIPTS, type ServerRow } from "./server-table.ts";

export type Http2Row = Omit<ServerRow, "stopSignal" | "signalOf">;

export const HTTP2_SERVERS: readonly Http2Row[] = [
  { system: "nginx", program: "nginx", script: SCRIPTS.nginx, configuration: NGINX_H2 },
  { system: "HAProxy", program: "haproxy", script: SCRIPTS.haproxy, configuration: HAPROXY_H2 },
  { system: "Apache httpd (event)", program: "apache", script: SCRIPTS.apache, configuration: APACHE_H2 },
  { system: "Caddy", program: "caddy", script: SCRIPTS.caddy, configuration: CADDY_H2 },
  { system: "Hypercorn", program: "hypercorn", script: SCRIPTS.hypercorn },
  { system: "Go net/http", program: "go", script: "exec $PROGRAM" },
];
