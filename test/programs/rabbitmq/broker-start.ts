/** Builds the environment and the command of a broker that writes to one folder only. */

/** Folder of the programs without Debian's wrappers, which change the user and the home folder. */
const PROGRAMS_FOLDER = "/usr/lib/rabbitmq/bin";

export const AMQP_PORT = 5_672;

export function brokerEnvironment(folder: string): Readonly<Record<string, string>> {
  return {
    HOME: folder,
    RABBITMQ_NODENAME: "rabbit@localhost",
    RABBITMQ_NODE_PORT: String(AMQP_PORT),
    RABBITMQ_MNESIA_BASE: `${folder}/mnesia`,
    RABBITMQ_LOG_BASE: `${folder}/log`,
    RABBITMQ_LOGS: "-",
    RABBITMQ_ENABLED_PLUGINS_FILE: `${folder}/enabled_plugins`,
    RABBITMQ_CONF_ENV_FILE: `${folder}/none`,
    RABBITMQ_CONFIG_FILE: `${folder}/rabbitmq.conf`,
    // Binds the clustering ports to loopback, and limits Erlang's schedulers, which default to one for each core.
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+S 2:2 -kernel inet_dist_use_interface {127,0,0,1}",
  };
}

export const START_BROKER = [
  'mkdir -p "$HOME"',
  `printf 'loopback_users.guest = false\\nlog.console.level = error\\n' > "$RABBITMQ_CONFIG_FILE"`,
  `printf '[].\\n' > "$RABBITMQ_ENABLED_PLUGINS_FILE"`,
  `exec ${PROGRAMS_FOLDER}/rabbitmq-server`,
].join("; ");

/** Starts maintenance mode: the node closes its listeners and all connections, and transfers its queue leaders. */
export const MAINTENANCE_COMMAND = `${PROGRAMS_FOLDER}/rabbitmq-upgrade drain`;
