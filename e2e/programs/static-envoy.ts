/** A static Envoy configuration in place of a control plane: one listener with a direct response. */

export type StaticEnvoy = {
  /** A path, or a port on loopback. */
  readonly admin: string | number;
  readonly webPort: number;
  /** Answers `/ready` with 200 until Envoy is set to fail its health checks. */
  readonly readyPort: number;
};

export function staticEnvoy({ admin, webPort, readyPort }: StaticEnvoy): object {
  const adminAddress = typeof admin === "string" ? { pipe: { path: admin } } : address("127.0.0.1", admin);
  return {
    admin: { address: adminAddress },
    static_resources: {
      listeners: [
        listener("web", webPort, []),
        listener("ready", readyPort, [
          {
            name: "envoy.filters.http.health_check",
            typed_config: {
              "@type": "type.googleapis.com/envoy.extensions.filters.http.health_check.v3.HealthCheck",
              pass_through_mode: false,
              headers: [{ name: ":path", string_match: { exact: "/ready" } }],
            },
          },
        ]),
      ],
    },
  };
}

function listener(name: string, port: number, filters: readonly object[]): object {
  const directResponse = { status: 200, body: { inline_string: "hello\n" } };
  const connectionManager = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: name,
    route_config: {
      virtual_hosts: [
        { name: "all", domains: ["*"], routes: [{ match: { prefix: "/" }, direct_response: directResponse }] },
      ],
    },
    http_filters: [
      ...filters,
      {
        name: "envoy.filters.http.router",
        typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
      },
    ],
  };
  const chain = {
    filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: connectionManager }],
  };
  return { name, address: address("0.0.0.0", port), filter_chains: [chain] };
}

function address(host: string, port: number): object {
  return { socket_address: { address: host, port_value: port } };
}
