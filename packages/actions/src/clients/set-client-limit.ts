import { operationCostPoints } from '@deedwire/domain';
import { lockApiClient, updateApiClientCostLimit } from '@deedwire/store/credentials';
import { appendAuditEntry } from '../append-audit-entry.ts';
import type { OperatorContext } from '../context.ts';
import { RefusedError } from '../errors.ts';

interface ClientLimit {
  clientId: string;
  /** The cost points of a full bucket. */
  maximum: number;
  /** Points per second. */
  restoreRate: number;
}

const numberMax = 1_000_000_000;

/**
 * Sets how many cost points a client has. Every process applies it within a second.
 *
 * @param input.maximum 1,000 to 1,000,000,000 points
 * @param input.restoreRate 1 to 1,000,000,000 points per second
 * @throws {RefusedError} `NOT_FOUND` if the client does not exist, `INVALID` if a number is not a whole one in its range
 */
export async function setClientLimit(
  context: OperatorContext,
  input: ClientLimit,
): Promise<ClientLimit & { previousMaximum: number; previousRestoreRate: number }> {
  const { clientId, maximum, restoreRate } = input;
  // The most expensive operation has to fit into a full bucket.
  checkNumber('maximum', maximum, operationCostPoints);
  checkNumber('restore rate', restoreRate, 1);
  return context.store.transaction(async (transaction) => {
    const client = await lockApiClient(transaction, clientId);
    if (client === null) throw new RefusedError('NOT_FOUND', `The client ${clientId} does not exist.`);
    await updateApiClientCostLimit(transaction, client.id, { maximum, restoreRate });
    const previous = { previousMaximum: client.costMaximum, previousRestoreRate: client.costRestoreRate };
    await appendAuditEntry(transaction, context.operator, {
      action: 'client.set-limit',
      subject: clientId,
      account: { id: client.accountId, interfaceName: client.interfaceName },
      details: { maximum, restoreRate, ...previous },
    });
    return { clientId, maximum, restoreRate, ...previous };
  });
}

function checkNumber(name: string, value: number, min: number): void {
  if (Number.isInteger(value) && value >= min && value <= numberMax) return;
  const range = `${min.toLocaleString('en')} to ${numberMax.toLocaleString('en')}`;
  throw new RefusedError('INVALID', `The ${name} must be a whole number from ${range}; it is ${value}.`);
}
