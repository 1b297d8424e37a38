import type { MilliPoints } from '../cost/operation-costs.ts';
import type { OperationPauses } from './operation-pauses.ts';

/** What the resolvers of an operation do beyond its price. They add to it while they run. */
export interface ExtraWork {
  cost: MilliPoints;
  /** Pages whose rows are in `cost` (`unreturned`), or whose items a field has returned. See `countRowsOfPages`. */
  pages?: Map<object, 'unreturned' | 'returned'>;
}

/** What running an operation needs of the context of its resolvers. */
export interface WorkContext {
  /** Undefined if no resolver does extra work. */
  readonly extraWork?: ExtraWork;
  /** Undefined if no resolver waits. */
  readonly pauses?: OperationPauses;
}
