import type { ComparisonBench } from '../comparison.ts';
import { sender } from './sender.ts';
import { signing } from './signing.ts';

/** A separate list, because the process of a contestant needs only these. */
export const comparisonBenches: readonly ComparisonBench[] = [sender, signing];
