/** Stands for a consumer of the examples: no port; at SIGTERM it takes nothing new and finishes what it has. */
const LAST_MESSAGE_MS = 2_000;

const working = setInterval(() => {}, 60_000);
process.once("SIGTERM", () => {
  clearInterval(working);
  setTimeout(() => process.exit(0), LAST_MESSAGE_MS);
});
