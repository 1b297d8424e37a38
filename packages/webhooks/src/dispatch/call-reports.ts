import type { DispatchEvent, Reports, StorageCall } from '../events.ts';
import type { BatchedCallsOptions } from './batched-calls.ts';

/** What a call to storage reports while storage is unavailable, and once it has succeeded again. */
export function callReports(
  call: StorageCall,
  onEvent: Reports<DispatchEvent>['onEvent'],
): Pick<BatchedCallsOptions<never, never>, 'onUnavailable' | 'onResumed'> {
  return {
    onUnavailable: (error) => onEvent({ kind: 'storage-unavailable', call, error }),
    onResumed: () => onEvent({ kind: 'loop-resumed', loop: call }),
  };
}
