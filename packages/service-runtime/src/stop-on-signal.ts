import type { Logger } from './logger.ts';

/** From the signal to the end, whatever hangs: below the 30 s after which orchestrators kill. */
const stopWithinMs = 25_000;

/** Runs `stop` on the first SIGTERM or SIGINT and exits: 0 when it settles in time, else 1. Returns how to stop listening. */
export function stopOnSignal(stop: () => Promise<void>, logger: Logger): () => void {
  let received = false;

  function onSignal(signal: NodeJS.Signals): void {
    if (received) return; // a process group often gets the same signal twice
    received = true;
    logger.info({ signal }, 'stopping');
    setTimeout(() => {
      logger.fatal(`not stopped within ${stopWithinMs} ms`);
      process.exit(1);
    }, stopWithinMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.fatal({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  }

  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  return () => process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
}
