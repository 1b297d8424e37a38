import { bodyCost } from '@deedwire/operation-analysis';
import { AccountAwayError } from '@deedwire/store';
import type { ExecutionArgs } from 'graphql';
import { OperationCharge } from '../cost/operation-charge.ts';
import { selectOperation } from '../operation/select-operation.ts';
import type { RequestLimits } from '../request-limits.ts';
import { present, type RequestState } from '../request-state.ts';
import type { RequestPlugin } from './request-plugin.ts';

/**
 * Charges the largest cost of an operation. It costs at least as much as its document did. Before the plugins of the app, so that what they
 * have in a cache costs what its operation costs.
 */
export function useCharge(limits: RequestLimits): RequestPlugin {
  function charge(
    { document, operationName, variableValues }: ExecutionArgs,
    state: RequestState,
  ): void | Promise<void> {
    const { bodyBytes, paid } = state;
    const account = present(state.account);
    const operation = selectOperation(document, operationName ?? null);
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
