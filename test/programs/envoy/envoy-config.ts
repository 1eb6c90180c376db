/** An Envoy in the shape of a gateway's: HTTP and TCP on the Pod's address, the admin interface on loopback. */

export type EnvoyPorts = {
  readonly address: string;
  readonly adminPort: number;
  readonly backendPort: number;
  /** Only gauges of connections, as meshes cut statistics. */
  readonly fewStatistics: boolean;
};

export const HTTP_PORT = 8_080;
export const TCP_PORT = 8_081;

export function envoyConfig({ address, adminPort, backendPort, fewStatistics }: EnvoyPorts): object {
  const matcher = { inclusion_list: { patterns: [{ prefix: "server" }, { suffix: "downstream_cx_active" }] } };
  return {
    ...(fewStatistics ? { stats_config: { stats_matcher: matcher } } : {}),
    admin: { address: at("127.0.0.1", adminPort) },
    static_resources: {
      listeners: [
        { name: "web", address: at(address, HTTP_PORT), filter_chains: [{ filters: [httpFilter()] }] },
        {
          name: "raw",
          address: at(address, TCP_PORT),
          filter_chains: [
            { filters: [filter("tcp_proxy", "tcp_proxy.v3.TcpProxy", { stat_prefix: "raw", cluster: "app" })] },
          ],
        },
      ],
      clusters: [
        {
          name: "app",
          type: "STATIC",
          load_assignment: {
            cluster_name: "app",
            endpoints: [{ lb_endpoints: [{ endpoint: { address: at("127.0.0.1", backendPort) } }] }],
          },
        },
      ],
    },
  };
}

function at(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}

function filter(name: string, type: string, config: object): object {
  return {
    name: `envoy.filters.network.${name}`,
    typed_config: { "@type": `type.googleapis.com/envoy.extensions.filters.network.${type}`, ...config },
  };
}

function httpFilter(): object {
  const router = {
    name: "envoy.filters.http.router",
    typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
  };
  const routes = [{ match: { prefix: "/" }, route: { cluster: "app", timeout: "0s" } }];
  return filter("http_connection_manager", "http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: "web",
    upgrade_configs: [{ upgrade_type: "websocket" }],
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes }] },
    http_filters: [router],
  });
}
