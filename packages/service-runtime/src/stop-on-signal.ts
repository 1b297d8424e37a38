import type { Logger } from './logger.ts';

/** From the signal to the exit. Below the 30 s after which orchestrators kill the process. */
const stopWithinMs = 25_000;

/**
 * Runs `stop` on the first SIGTERM or SIGINT, then exits with 0, or with 1 when `stop` rejects or takes too long. It keeps its handlers:
 * without one, the same signal again would end the process before it exits with 0.
 */
export function stopOnSignal(stop: () => Promise<void>, logger: Logger): void {
  let received = false;

  function onSignal(signal: NodeJS.Signals): void {
    if (received) return; // a process in a group often receives the same signal twice
    received = true;
    logger.info({ signal }, 'stopping');
    setTimeout(() => {
      logger.fatal({ stopWithinMs }, 'stop timed out');
      process.exit(1);
    }, stopWithinMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.fatal({ err: error }, 'stop failed');
        process.exit(1);
      },
    );
  }

  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}
