import type { Logger } from '@deedwire/service-runtime';
import type { Database } from '@deedwire/store';
import { recordUse, type RegisteredProcess } from '@deedwire/store/processes';
import { createUseCounter } from './use-counter.ts';

interface UseRecordOptions {
  process: Pick<RegisteredProcess, 'app' | 'id'>;
  database: Database;
  logger: Logger;
  /** The deprecated ones, which are counted: `2026-11-01 Query.old`. */
  coordinates: readonly string[];
  everyMs?: number;
  /** Monotonic. */
  nowMs?: () => number;
}

/** Counts which versions clients use, and stores the counts once a minute. Nothing of it happens in a request. */
export function openUseRecord(options: UseRecordOptions) {
  const { process, database, logger, coordinates, everyMs = 60_000, nowMs = () => performance.now() } = options;
  const counter = createUseCounter();
  const counted = coordinates.join('\n');
  /** When the last counts were stored. Null if counts since then may be lost. */
  let storedMs: number | null = null;
  let hasFailed = false;
  let running = Promise.resolve();
  let isOpen = false;
  let timer: NodeJS.Timeout | undefined;

  async function store(isEnded: boolean): Promise<void> {
    const { uses, isOverflowed } = counter.take();
    const countedMs = storedMs === null ? null : nowMs() - storedMs;
    try {
      await recordUse(database, process, { countedMs, isOverflowed, isEnded, coordinates: counted }, uses);
      storedMs = nowMs();
      hasFailed = false;
    } catch (error) {
      // They can have been stored: then they count twice. What else was lost is unknown, so this period ends.
      storedMs = null;
      for (const use of uses) counter.count(...use);
      if (!hasFailed) logger.warn({ err: error }, 'the use of versions cannot be stored; it is counted in memory');
      hasFailed = true;
    }
  }
  const storeNext = (isEnded: boolean): Promise<void> => (running = running.then(() => store(isEnded)));
  /** A database that needs longer than `everyMs` gets no queue of statements. */
  function storeLater(): void {
    if (!isOpen) return;
    timer = setTimeout(() => {
      void storeNext(false).then(storeLater);
    }, everyMs).unref();
  }

  return {
    count: counter.count,
    /** Begins the period that is counted. */
    async start(): Promise<void> {
      if (isOpen) return;
      isOpen = true;
      await storeNext(false);
      storeLater();
    },
    async close(): Promise<void> {
      if (!isOpen) return;
      isOpen = false;
      clearTimeout(timer);
      await storeNext(true);
    },
  };
}
