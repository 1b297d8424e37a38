import type { WebhookHeaders } from '@deedwire/webhook-signing';
import { AttemptError } from './attempt-error.ts';

/** Header names with their values. */
export type HeaderValues = Readonly<Record<string, string>>;

/**
 * Merges headers into one object with lower-case names. Later sources override earlier ones.
 *
 * @throws {AttemptError} when a name or a value is invalid: `PROTOCOL_ERROR`. A line break would inject another header.
 */
export function requestHeaders(...sources: readonly HeaderValues[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of sources.flatMap((source) => Object.entries(source))) {
    headers.set(lowerCaseName(name), checkedValue(name, value));
  }
  return Object.fromEntries(headers);
}

const setBySender = [
  'accept-encoding',
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
] as const;

/** They follow the prefix. */
const setBySenderWithPrefix = ['-webhook-signature', '-webhook-signature-next', '-webhook-timestamp'] as const;

/** Builds the headers of one request: names and values in turn, as undici accepts them without another object. */
export type HeaderList = (headers: HeaderValues, signature: WebhookHeaders) => string[];

/**
 * Checks the headers of all requests to a target once. The headers of a single request override them, and the headers that
 * the sender sets override both.
 *
 * @throws {AttemptError} when a name or a value is invalid: `PROTOCOL_ERROR`. The returned function throws it too.
 */
export function headerList(ofTarget: HeaderValues, userAgent: string, headerPrefix: string): HeaderList {
  const ownPrefix = headerPrefix.toLowerCase();
  const reserved = new Set<string>([...setBySender, ...setBySenderWithPrefix.map((name) => ownPrefix + name)]);
  const start = ['content-type', 'application/json', 'accept-encoding', 'identity', 'user-agent', userAgent];
  for (const [name, value] of Object.entries(requestHeaders(ofTarget))) {
    if (!reserved.has(name)) start.push(name, value);
  }
  return (headers, signature) => {
    const list = start.slice();
    for (const [given, content] of Object.entries(headers)) {
      const name = lowerCaseName(given);
      const value = checkedValue(given, content);
      if (!reserved.has(name)) setHeader(list, name, value);
    }
    for (const [name, value] of Object.entries(signature)) list.push(name, value);
    return list;
  };
}

function setHeader(list: string[], name: string, value: string): void {
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] !== name) continue;
    list[i + 1] = value;
    return;
  }
  list.push(name, value);
}

// The names that were checked, with their lower-case form. Callers use a few constant names.
const checkedNames = new Map<string, string>();
const maxCheckedNames = 100;

function lowerCaseName(name: string): string {
  const checked = checkedNames.get(name);
  if (checked !== undefined) return checked;
  // A token (RFC 9110).
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw invalidHeader(name);
  const lowerCase = name.toLowerCase();
  if (checkedNames.size < maxCheckedNames) checkedNames.set(name, lowerCase);
  return lowerCase;
}

/** Values are limited to printable ASCII, which every server interprets identically. */
function checkedValue(name: string, value: unknown): string {
  if (typeof value !== 'string' || !/^[\u0020-\u007e]*$/.test(value)) throw invalidHeader(name);
  return value;
}

function invalidHeader(name: string): AttemptError {
  return new AttemptError(
    'PROTOCOL_ERROR',
    `The request header ${JSON.stringify(name)} has an invalid name or value.`,
    {
      attemptCause: 'REQUEST_NOT_SENT',
    },
  );
}
