import { bodyCost } from '@deedwire/operation-analysis';
import { AccountAwayError } from '@deedwire/store';
import type { DocumentNode, ExecutionArgs, OperationDefinitionNode } from 'graphql';
import { OperationCharge } from '../cost/operation-charge.ts';
import { RequestError } from '../errors/request-error.ts';
import { selectOperation } from '../operation/select-operation.ts';
import type { RequestLimits } from '../request-limits.ts';
import { present, type RequestState } from '../request-state.ts';
import type { RequestPlugin } from './request-plugin.ts';

/**
 * Refuses an operation that the caller may not run, and charges the largest cost of others. They cost at least as much as their documents
 * did. Before the plugins of the app, so that what they have in a cache is refused alike, and costs what its operation costs.
 */
export function useCharge(limits: RequestLimits): RequestPlugin {
  function charge(
    { document, operationName, variableValues }: ExecutionArgs,
    state: RequestState,
  ): void | Promise<void> {
    const { bodyBytes, paid } = state;
    const account = present(state.account);
    const operation = selectOperation(document, operationName ?? null);
    checkAbilities(document, operation, state);
    if (operation.operation === 'mutation' && present(state.caller).client.away) {
      account.refund(paid);
      throw new AccountAwayError();
    }
    const { pricing } = present(state.version);
    const { requestedQueryCost, priceOf } = pricing.price(document, operation, variableValues ?? {});
    const reading = Math.max(bodyCost(bodyBytes, limits), paid);
    const charged = Math.max(requestedQueryCost, reading);
    const admit = (): void => {
      state.operation = operation;
      state.charge = new OperationCharge(account, { charged, reading, paid }, priceOf);
    };
    const admitted = charged > paid ? account.charge('operation', charged - paid, charged) : undefined;
    return admitted instanceof Promise ? admitted.then(admit) : admit();
  }

  return {
    onExecute: ({ args }) => charge(args, args.contextValue.requestState),
  };
}

/** @throws {RequestError} if the key or the session lacks an ability for the operation */
function checkAbilities(document: DocumentNode, operation: OperationDefinitionNode, state: RequestState): void {
  const { abilities, session } = present(state.caller);
  const needed = present(state.version).neededAbilities(document, operation);
  const missing = needed.filter((ability) => !abilities.includes(ability));
  if (missing.length === 0) return;
  const remedy = session
    ? 'the session does not have. Open the portal with a link that has it.'
    : 'your key does not have. Use a key that has it.';
  throw new RequestError('FORBIDDEN', {
    message: `The operation needs the ${missing.length > 1 ? 'abilities' : 'ability'} ${missing.join(', ')}, which ${remedy}`,
  });
}
