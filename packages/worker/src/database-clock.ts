import type { RaiseAlarm } from '@deedwire/service-runtime';
import type { Database } from '@deedwire/store';
import { selectTime } from '@deedwire/store/time';

/**
 * The clock of the database, which also decides about leases and due times. The clock of this machine may be wrong, and
 * receivers reject signatures whose timestamp is more than five minutes off.
 */
export interface DatabaseClock {
  /** Continues from the latest reading, even while the database is unavailable. Before the first, it is the machine's time. */
  readonly now: () => Date;
  /** As `now`, in milliseconds. */
  readonly nowMs: () => number;
  /** Reads the clock of the database. Repeat it regularly, because the two clocks drift apart. */
  readonly read: () => Promise<void>;
}

// Smaller skew only affects log timestamps.
const alarmMs = 60_000;

export interface DatabaseClockOptions {
  store: Database;
  raiseAlarm: RaiseAlarm<'clock-wrong'>;
  /** The clock of this machine in milliseconds, and one that never goes backward. */
  machine: { now: () => number; monotonicMs: () => number };
}

export function createDatabaseClock({ store, raiseAlarm, machine }: DatabaseClockOptions): DatabaseClock {
  let offsetMs = machine.now() - machine.monotonicMs();
  let wasWrong = false;
  return {
    now: () => new Date(offsetMs + machine.monotonicMs()),
    nowMs: () => offsetMs + machine.monotonicMs(),
    async read() {
      const startedMs = machine.monotonicMs();
      const time = await selectTime(store);
      // The reading is attributed to the middle of the round trip.
      offsetMs = time.getTime() - (startedMs + machine.monotonicMs()) / 2;
      const wrongByMs = Math.round(machine.now() - machine.monotonicMs() - offsetMs);
      const isWrong = Math.abs(wrongByMs) > alarmMs;
      if (isWrong && !wasWrong) raiseAlarm('clock-wrong', { wrongByMs });
      wasWrong = isWrong;
    },
  };
}
