import {
  describeRequestHeaderNames,
  describeRequestHeaderValue,
  isRequestHeaderName,
  isRequestHeaderValue,
  originOf,
  type RequestHeader,
  requestHeaderAssociatedData,
  type RequestHeaderState,
} from '@deedwire/core';
import type { SecretKeyRing } from '@deedwire/store';
import type { SubscriptionId } from '@deedwire/webhooks/tables';
import type { ActionContext } from '../kernel/context.ts';
import type { UserError } from '../kernel/errors.ts';
import {
  selectWhetherHeadersAreSent,
  type StoredHeader,
  type SubscriptionRow,
} from '../webhooks/subscriptions/subscriptions.ts';

/** The user errors of every mutation that sets the request header of a subscription. */
export const requestHeaderErrorCodes = ['NOT_YET_AVAILABLE', 'REQUEST_HEADER_INVALID'] as const;

export type RequestHeaderErrorCode = (typeof requestHeaderErrorCodes)[number];

const notYetAvailable: UserError<'NOT_YET_AVAILABLE'> = {
  code: 'NOT_YET_AVAILABLE',
  message:
    'A worker of an earlier release runs, which would send without the request header. Try again later, or omit the header.',
  field: ['input', 'requestHeader'],
};

/** What is wrong with a header, without its value. Nothing if it is null or undefined. */
export async function findRequestHeaderErrors(
  { service, store }: Pick<ActionContext, 'service' | 'store'>,
  header: RequestHeader | null | undefined,
): Promise<UserError<RequestHeaderErrorCode>[]> {
  if (header === null || header === undefined) return [];
  const userErrors: UserError<RequestHeaderErrorCode>[] = [];
  const add = (field: keyof RequestHeader, message: string): void =>
    void userErrors.push({ code: 'REQUEST_HEADER_INVALID', message, field: ['input', 'requestHeader', field] });
  if (!isRequestHeaderName(service, header.name)) add('name', describeRequestHeaderNames(service));
  if (!isRequestHeaderValue(header.value)) add('value', describeRequestHeaderValue(header.value));
  if (!(await selectWhetherHeadersAreSent(store))) userErrors.push(notYetAvailable);
  return userErrors;
}

/** Encrypts a header for the origin of a callback URL that was checked. */
export function encryptHeader(
  keys: SecretKeyRing,
  { id, callbackUrl }: { id: SubscriptionId; callbackUrl: string },
  { name, value }: RequestHeader,
): StoredHeader {
  const origin = originOf(callbackUrl);
  if (origin === null) throw new Error('The callback URL was not checked.');
  return { name, origin, ciphertext: keys.encrypt(value, requestHeaderAssociatedData(id, name, origin)) };
}

/** The header to send to a callback URL. Undefined if there is none, or one for another origin. */
export function headerFor(
  keys: SecretKeyRing,
  { id, requestHeader: header }: Pick<SubscriptionRow, 'id' | 'requestHeader'>,
  callbackUrl: string,
): RequestHeader | undefined {
  const origin = originOf(callbackUrl);
  if (header === null || header.ciphertext === null || origin === null || header.origin !== origin) return undefined;
  const { name, ciphertext } = header;
  return { name, value: keys.decrypt(ciphertext, requestHeaderAssociatedData(id, name, origin)) };
}

export function headerStateOf({
  requestHeader: header,
  callbackUrl,
}: Pick<SubscriptionRow, 'callbackUrl' | 'requestHeader'>): RequestHeaderState | null {
  if (header === null) return null;
  return header.origin !== null && header.origin === originOf(callbackUrl) ? 'SENT' : 'DROPPED';
}
