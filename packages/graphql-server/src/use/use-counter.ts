import type { CountedUse } from '@deedwire/store/processes';

export interface UseCounter {
  /** @param coordinate empty for the version itself */
  readonly count: (clientId: string, version: string, coordinate: string, times?: number) => void;
  /** Returns the counts, and begins again. */
  take(): CountedUse & { isOverflowed: boolean };
}

/** Counts the use of versions in memory. Beyond `maxKeys`, what has no key yet is lost. */
export function createUseCounter(maxKeys = 10_000): UseCounter {
  let uses = new Map<string, { key: readonly [string, string, string]; times: number }>();
  let isOverflowed = false;

  return {
    count(clientId, version, coordinate, times = 1) {
      const text = `${version} ${coordinate} ${clientId}`;
      const known = uses.get(text);
      if (known) known.times += times;
      else if (uses.size < maxKeys) uses.set(text, { key: [clientId, version, coordinate], times });
      else isOverflowed = true;
    },
    take() {
      const counted = [...uses.values()];
      const taken = {
        clientIds: counted.map(({ key }) => key[0]),
        versions: counted.map(({ key }) => key[1]),
        coordinates: counted.map(({ key }) => key[2]),
        counts: counted.map(({ times }) => times),
        isOverflowed,
      };
      uses = new Map();
      isOverflowed = false;
      return taken;
    },
  };
}
