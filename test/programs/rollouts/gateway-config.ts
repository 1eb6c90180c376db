/** An Envoy that passes HTTP/1.1, HTTP/2 and gRPC of one port on to an app that stays. */
import { HTTP1_PORT, UPSTREAM_HOST, UPSTREAM_HTTP1_PORT, UPSTREAM_HTTP2_PORT } from "./app-facts.ts";

export const ENVOY_ADMIN_PORT = 19_000;

const TYPES = "type.googleapis.com/envoy.extensions";

export function gatewayConfig(): object {
  return {
    admin: { address: at("127.0.0.1", ENVOY_ADMIN_PORT) },
    static_resources: {
      listeners: [{ name: "web", address: at("0.0.0.0", HTTP1_PORT), filter_chains: [{ filters: [httpFilter()] }] }],
      clusters: [cluster("http1", UPSTREAM_HTTP1_PORT, {}), cluster("grpc", UPSTREAM_HTTP2_PORT, HTTP2_UPSTREAM)],
    },
  };
}

const HTTP2_UPSTREAM = {
  typed_extension_protocol_options: {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
      "@type": `${TYPES}.upstreams.http.v3.HttpProtocolOptions`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

function cluster(name: string, port: number, more: object): object {
  const endpoint = { endpoint: { address: at(UPSTREAM_HOST, port) } };
  const load_assignment = { cluster_name: name, endpoints: [{ lb_endpoints: [endpoint] }] };
  return { name, type: "STATIC", load_assignment, ...more };
}

function httpFilter(): object {
  const grpc = { match: { prefix: "/", grpc: {} }, route: { cluster: "grpc", timeout: "0s" } };
  const plain = { match: { prefix: "/" }, route: { cluster: "http1", timeout: "0s" } };
  const router = {
    name: "envoy.filters.http.router",
    typed_config: { "@type": `${TYPES}.filters.http.router.v3.Router` },
  };
  return {
    name: "envoy.filters.network.http_connection_manager",
    typed_config: {
      "@type": `${TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
      stat_prefix: "web",
      route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes: [grpc, plain] }] },
      http_filters: [router],
    },
  };
}

function at(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}
