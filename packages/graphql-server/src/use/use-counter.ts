import type { CountedUse } from '@deedwire/store/processes';

/** Counts the use of versions in memory. Beyond `maxKeys`, what has no key yet is lost. */
export function createUseCounter(maxKeys = 10_000) {
  let uses = new Map<string, { key: readonly [string, string, string]; times: number }>();
  let isOverflowed = false;

  return {
    /** @param coordinate empty for the version itself */
    count: (clientId: string, version: string, coordinate: string, times = 1): void => {
      const text = `${version} ${coordinate} ${clientId}`;
      const known = uses.get(text);
      if (known) known.times += times;
      else if (uses.size < maxKeys) uses.set(text, { key: [clientId, version, coordinate], times });
      else isOverflowed = true;
    },
    /** Returns the counts, and begins again. */
    take(): CountedUse & { isOverflowed: boolean } {
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

export type UseCounter = ReturnType<typeof createUseCounter>;
