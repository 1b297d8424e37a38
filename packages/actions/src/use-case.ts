/** What a use case of an application is made of, besides the statements of its records. */
export { checkName, findAccount, readOwnAccount } from './accounts.ts';
export { appendedEvent, appendEvent } from './append-event.ts';
export { appendAuditEntry, auditedChange, nameOperator } from './audit.ts';
export { isCaller, type Operator } from './context.ts';
export { inputError, type MutationResult } from './errors.ts';
export { type IdempotencyErrorCode, resultOf, timeCodec, writeWithIdempotencyKey } from './idempotency.ts';
export { keysetPage, type ListOrder, orderOfIds, readPageRequest, toPage } from './page.ts';
