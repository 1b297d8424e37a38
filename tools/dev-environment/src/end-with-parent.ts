/**
 * Loaded into an app before its own code: the app stops, as on SIGTERM, when the process that started it is gone,
 * however it ended. The channel to that process closes then.
 */
const stopWithinMs = 8_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), stopWithinMs).unref();
  process.kill(process.pid, 'SIGTERM');
});
// Listening must not keep alive an app that is done.
process.channel?.unref();
