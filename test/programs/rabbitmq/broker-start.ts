/** How a broker is started as a plain process that writes below one folder only. */

/** Debian's own programs, without the wrappers that change the user and the home folder. */
const PROGRAMS = "/usr/lib/rabbitmq/bin";

export const AMQP_PORT = 5_672;

/** What the broker and its command line both need to find each other. */
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
    // Its ports of clustering stay inside the Pod; four schedulers for every core are not needed here.
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+S 2:2 -kernel inet_dist_use_interface {127,0,0,1}",
  };
}

/** A shell script that ends by becoming the broker. */
export const START_BROKER = [
  'mkdir -p "$HOME"',
  `printf 'loopback_users.guest = false\\nlog.console.level = error\\n' > "$RABBITMQ_CONFIG_FILE"`,
  `printf '[].\\n' > "$RABBITMQ_ENABLED_PLUGINS_FILE"`,
  `exec ${PROGRAMS}/rabbitmq-server`,
].join("; ");

/** Puts the node into maintenance: it closes its listeners and all connections, and moves its leaders elsewhere. */
export const UPGRADE_DRAIN = `${PROGRAMS}/rabbitmq-upgrade drain`;
