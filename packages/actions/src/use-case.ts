/** What a use case of an application is made of, besides the statements of its records. */
export { checkName, findAccount, readOwnAccount } from './accounts/accounts.ts';
export { appendedEvent, appendEvent } from './kernel/append-event.ts';
export { appendAuditEntry, auditedChange, nameOperator } from './kernel/audit.ts';
export { type Change, type ChangeRequest, changeOnce } from './kernel/change.ts';
export { isCaller, type Operator } from './kernel/context.ts';
export { inputError, type MutationResult, type IdempotencyErrorCode } from './kernel/errors.ts';
export { resultOf, timeCodec, writeWithIdempotencyKey } from './kernel/idempotency.ts';
export { keysetPage, type ListOrder, orderOfIds, readPageRequest, toPage } from './kernel/page.ts';
