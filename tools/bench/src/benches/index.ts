import type { Bench } from '../bench.ts';
import { sender } from './sender.ts';
import { signing } from './signing.ts';

/** A new bench is a file in this folder and an entry here. */
export const benches: readonly Bench[] = [sender, signing];

export function benchNamed(name: string): Bench | undefined {
  return benches.find((bench) => bench.name === name);
}
