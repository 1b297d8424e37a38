import type { Logger } from '@deedwire/service-runtime';
import type { Database } from '@deedwire/store';
import { selectTime } from '@deedwire/store/time';

/**
 * The time of the database, by which leases and due times are counted, too. What this machine's own clock says does not
 * matter: receivers refuse signatures that are five minutes off.
 */
export interface DatabaseClock {
  /** Continues from the latest reading, also while the database is away. Before the first it is this machine's time. */
  readonly now: () => Date;
  /** To be done again from time to time: no two clocks run alike. */
  readonly read: () => Promise<void>;
}

// Less is nobody's trouble: what is off are the times in the log.
const alarmMs = 60_000;

export interface DatabaseClockOptions {
  store: Database;
  logger: Logger;
  /** Of this machine: what it says, and milliseconds that only grow. */
  machine?: { now: () => number; monotonicMs: () => number };
}

export function createDatabaseClock(options: DatabaseClockOptions): DatabaseClock {
  const { store, logger, machine = { now: () => Date.now(), monotonicMs: () => performance.now() } } = options;
  let offsetMs = machine.now() - machine.monotonicMs();
  let wasWrong = false;
  return {
    now: () => new Date(offsetMs + machine.monotonicMs()),
    async read() {
      const askedMs = machine.monotonicMs();
      const time = await selectTime(store);
      // As of halfway between the question and the answer.
      offsetMs = time.getTime() - (askedMs + machine.monotonicMs()) / 2;
      const wrongByMs = Math.round(machine.now() - machine.monotonicMs() - offsetMs);
      const isWrong = Math.abs(wrongByMs) > alarmMs;
      if (isWrong && !wasWrong) {
        logger.error({ alarm: 'clock-wrong', wrongByMs }, "this machine's clock is not that of the database");
      }
      wasWrong = isWrong;
    },
  };
}
