/** A document or an operation exceeds a limit. The message is for the client. */
export class OperationTooComplexError extends Error {
  override readonly name = 'OperationTooComplexError';
  /** Points, if the price exceeds its limit. */
  readonly cost: { requestedQueryCost: number; limit: number } | undefined;

  constructor(message: string, cost?: OperationTooComplexError['cost']) {
    super(message);
    this.cost = cost;
  }
}
