/** Builds the listeners' filters, addresses and clusters of Envoy configurations. */

export type HttpStats = { readonly prefix: string; readonly codec: "AUTO" | "HTTP3" };

export function tcpAt(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}

export function udpAt(address: string, port: number): object {
  return { socket_address: { protocol: "UDP", address, port_value: port } };
}

export function filter(name: string, type: string, config: object): object {
  return {
    name: `envoy.filters.network.${name}`,
    typed_config: { "@type": `type.googleapis.com/envoy.extensions.filters.network.${type}`, ...config },
  };
}

export function httpFilter(
  { prefix, codec }: HttpStats,
  routes: readonly object[],
  otherFilters: readonly object[] = [],
): object {
  const router = {
    name: "envoy.filters.http.router",
    typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
  };
  return filter("http_connection_manager", "http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: prefix,
    codec_type: codec,
    upgrade_configs: [{ upgrade_type: "websocket" }],
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes }] },
    http_filters: [...otherFilters, router],
  });
}

export function buildCluster(name: string, address: object, protocol: "http1" | "http2" = "http1"): object {
  const http2 = {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
      "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
      explicit_http_config: { http2_protocol_options: {} },
    },
  };
  return {
    name,
    type: "STATIC",
    ...(protocol === "http2" ? { typed_extension_protocol_options: http2 } : {}),
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
  };
}
