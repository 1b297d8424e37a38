import type { Store } from '@deedwire/store';

/** A store in which `interfere` runs before its first transaction, that is, after everything was read. */
export function interrupted(store: Store, interfere: () => Promise<unknown>): Store {
  let isDone = false;
  return {
    ...store,
    async transaction(work) {
      if (!isDone) await interfere();
      isDone = true;
      return store.transaction(work);
    },
  };
}
