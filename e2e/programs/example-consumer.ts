/** A fake consumer of the examples, without a port: at SIGTERM it accepts no new work and finishes its current work. */
const LAST_MESSAGE_MS = 2_000;

const working = setInterval(() => {}, 60_000);
process.once("SIGTERM", () => {
  clearInterval(working);
  setTimeout(() => process.exit(0), LAST_MESSAGE_MS);
});
