import { setTimeout as sleep } from 'node:timers/promises';
import type { Receivers } from '../delivery/receivers.ts';

/** An event that arrived. Times by `machineMs()`. */
export interface Arrived {
  committedMs: number;
  /** The first time. */
  arrivedMs: number;
  isBurst: boolean;
}

export type Ledger = Awaited<ReturnType<typeof openLedger>>;

const takeEveryMs = 500;

/** The name of an event that belongs to a burst: its account has no other events. */
export const burstName = (index: number): string => `bench-burst-${index}`;

/** Keeps what was committed and what arrived, from now on until `close`. */
export async function openLedger(receiver: Pick<Receivers, 'forget' | 'take'>) {
  /** Their commit has not returned. */
  const committing = new Set<string>();
  /** They arrived meanwhile. */
  const early = new Map<string, number>();
  const committed = new Map<string, number>();
  /** Their commit failed. It can have happened nevertheless, if the connection broke before the response. */
  const refused = new Set<string>();
  const arrived: Arrived[] = [];
  const counts = { committed: 0, refused: 0, repeats: 0 };
  let isOpen = true;

  const settle = (name: string, committedMs: number, arrivedMs: number): void => {
    arrived.push({ committedMs, arrivedMs, isBurst: name.startsWith('bench-burst-') });
  };
  const takeArrivals = async (): Promise<void> => {
    for (const { name, atMs } of await receiver.take()) {
      const committedMs = committed.get(name);
      if (committedMs !== undefined) {
        committed.delete(name);
        settle(name, committedMs, atMs);
      } else if (committing.has(name) && !early.has(name)) early.set(name, atMs);
      else if (!refused.delete(name)) counts.repeats += 1;
    }
  };
  const keepTaking = async (): Promise<void> => {
    while (isOpen) {
      await takeArrivals();
      await sleep(takeEveryMs);
    }
  };
  await receiver.forget();
  const taking = keepTaking();
  taking.catch(() => {}); // `close` throws it
  return {
    arrived: arrived as readonly Arrived[],
    counts: counts as Readonly<typeof counts>,
    /** When each event was committed that has not arrived. */
    pending: committed as ReadonlyMap<string, number>,
    /** @param commit commits the events of these names, and returns when */
    async enter(names: readonly string[], commit: () => Promise<number>): Promise<void> {
      for (const name of names) committing.add(name);
      const committedMs = await commit().catch(() => null);
      for (const name of names) {
        committing.delete(name);
        const arrivedMs = early.get(name);
        early.delete(name);
        counts[committedMs === null ? 'refused' : 'committed'] += 1;
        if (committedMs === null) {
          if (arrivedMs === undefined) refused.add(name);
        } else if (arrivedMs === undefined) committed.set(name, committedMs);
        else settle(name, committedMs, arrivedMs);
      }
    },
    async close(): Promise<void> {
      isOpen = false;
      await taking;
      await takeArrivals();
    },
  };
}
