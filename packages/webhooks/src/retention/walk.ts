import type { Batch } from './sql/expired-rows.ts';

/** Runs a batch statement over a whole table. Adds up the changed and the skipped rows. */
export async function walk<Key>(
  batch: (after: Key | null) => Promise<Batch<Key>>,
): Promise<{ changed: number; skipped: number }> {
  let changed = 0;
  let skipped = 0;
  let after: Key | null = null;
  do {
    const result: Batch<Key> = await batch(after);
    changed += result.changed;
    skipped += result.skipped;
    after = result.next;
  } while (after !== null);
  return { changed, skipped };
}
