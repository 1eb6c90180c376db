/** A fake consumer of the examples, without a port: at SIGTERM it does not accept new work and finishes its current work. */
const LAST_MESSAGE_MS = 2_000;

const workTimer = setInterval(() => {}, 60_000);
process.once("SIGTERM", () => {
  clearInterval(workTimer);
  setTimeout(() => process.exit(0), LAST_MESSAGE_MS);
});
