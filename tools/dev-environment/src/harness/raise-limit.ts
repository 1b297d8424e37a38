import { setClientLimit, type OperatorContext } from '@deedwire/actions';

/** Lets a client send more than a test can, for tests that are not about rate limits. */
export async function raiseLimit(operator: OperatorContext, clientId: string): Promise<void> {
  await setClientLimit(operator, { clientId, maximum: 1_000_000, restoreRate: 1_000_000 });
}
