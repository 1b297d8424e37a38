import { readCheckout, thisCheckout } from '../checkout/checkout.ts';
import { type DeedwireService, startDeedwire } from '../checkout/deedwire-service.ts';
import type { Receivers } from '../delivery/receivers.ts';
import { withServers } from '../delivery/stack.ts';
import { type Load, startLoad } from '../graphql/load.ts';

/** This checkout and another one, each with its own database and processes. */
export interface Pair {
  readonly services: readonly [ours: DeedwireService, other: DeedwireService];
  readonly receiver: Receivers;
  readonly load: Load;
}

/** @param beside the folder of the other checkout */
export function withPair<Result>(
  beside: string | undefined,
  receivers: number,
  work: (pair: Pair) => Promise<Result>,
): Promise<Result> {
  const other = readCheckout(beside);
  return withServers(receivers, async ({ postgres, receiver }, defer) => {
    const ours = await startDeedwire(thisCheckout, { postgres, database: 'ours', defer });
    const theirs = await startDeedwire(other, { postgres, database: 'other', defer });
    return work({ services: [ours, theirs], receiver, load: await startLoad(defer) });
  });
}
