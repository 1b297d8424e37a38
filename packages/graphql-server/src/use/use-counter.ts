import type { CountedUse } from '@deedwire/store/processes';

/** Counts the use of versions in memory. Beyond `maxKeys`, what has no key yet is lost. */
export function createUseCounter(maxKeys = 10_000) {
  let uses = new Map<string, [...CountedUse]>();
  let isOverflowed = false;

  return {
    /** @param coordinate empty for the version itself */
    count: (clientId: string, version: string, coordinate: string, times = 1): void => {
      const key = `${version} ${coordinate} ${clientId}`;
      const known = uses.get(key);
      if (known) known[3] += times;
      else if (uses.size < maxKeys) uses.set(key, [clientId, version, coordinate, times]);
      else isOverflowed = true;
    },
    /** Returns the counts, and begins again. */
    take() {
      const taken = { uses: [...uses.values()], isOverflowed };
      uses = new Map();
      isOverflowed = false;
      return taken;
    },
  };
}

export type UseCounter = ReturnType<typeof createUseCounter>;
