import type { Notice } from '../change.ts';
import type { ContractChange } from './compare-snapshots.ts';

/** A package whose contracts were compared with a baseline. */
export interface ComparedPackage {
  readonly name: string;
  /** Relative to the root, with `/` as the separator. */
  readonly path: string;
  /** From `package.json`. Null if it has no version. */
  readonly version: string | null;
  /** The packages that serve the contracts and are released with them. */
  readonly servedBy: readonly string[];
  /** Null before the first release. `version` is null if it is unknown. */
  readonly baseline: { readonly name: string; readonly version: string | null } | null;
  readonly changes: readonly ContractChange[];
  readonly notices: readonly Notice[];
}
