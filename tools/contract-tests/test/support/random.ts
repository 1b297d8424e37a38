import { seededRandom } from '@deedwire/testing';

/** Pseudorandom choices that a seed repeats. */
export interface Random {
  /** From 0 to `below` - 1. */
  int(below: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item;
}

export function createRandom(seed: number): Random {
  const next = seededRandom(seed);
  const int = (below: number) => Math.floor(next() * below);
  return {
    int,
    chance: (probability) => next() < probability,
    pick(items) {
      const item = items[int(items.length)];
      if (item === undefined) throw new Error('There is nothing to pick from.');
      return item;
    },
  };
}
