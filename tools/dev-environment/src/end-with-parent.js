/**
 * Preloaded into an app, so that the app stops as on SIGTERM when its parent process ends for any reason. The IPC channel
 * to the parent closes then. It is JavaScript, because Node needs 20 MB of memory to strip types.
 */
const stopWithinMs = 8_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), stopWithinMs).unref();
  process.kill(process.pid, 'SIGTERM');
});
// The open channel must not keep the process running after the app has finished.
process.channel?.unref();
