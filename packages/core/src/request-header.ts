import { ofService } from './interfaces.ts';
import type { Service } from './service.ts';

/** A header of a subscription, with a secret value. Its worker sends it with each request to the callback URL. */
export interface RequestHeader {
  readonly name: string;
  readonly value: string;
}

/** Whether the header of a subscription is sent. `DROPPED`: its callback URL has moved to another origin. */
export type RequestHeaderState = 'SENT' | 'DROPPED';

const maxNameLength = 100;
const maxValueLength = 4_096;

// Others set these: proxies, and the service itself. The shape of a name excludes `Host`, `Cookie` and the like.
const reservedIn = ofService(({ names }) => ['x-forwarded-', `${names.headerPrefix.toLowerCase()}-`]);

/** Returns true if a subscription of the service may have a header with this name. */
export function isRequestHeaderName(service: Service, name: string): boolean {
  // Servers that follow CGI do not tell `_` from `-`.
  const compared = `${name.toLowerCase().replaceAll('_', '-')}-`;
  return (
    name.length <= maxNameLength &&
    /^(?:authorization|x-[a-z0-9][a-z0-9_-]*)$/i.test(name) &&
    !reservedIn(service).some((start) => compared.startsWith(start))
  );
}

/** Returns true if the header of a subscription may have this value. All servers read printable ASCII in the same way. */
export function isRequestHeaderValue(value: string): boolean {
  return value.length <= maxValueLength && /^[!-~](?:[ -~]*[!-~])?$/.test(value);
}

/** What is allowed, for clients. Quotes nothing: a client can confuse name and value, and the value is a secret. */
export function describeRequestHeaderNames({ names }: Service): string {
  return `A request header is \`Authorization\`, or \`X-\` followed by letters, digits, \`-\` and \`_\`, with at most ${maxNameLength} characters. It does not begin with \`X-Forwarded-\` or \`${names.headerPrefix}-\`, even with \`_\` in place of \`-\`.`;
}

/** What is wrong with a value that is not valid, for clients. Does not quote it. */
export function describeRequestHeaderValue(value: string): string {
  return `The value of a request header has 1 to ${maxValueLength.toLocaleString('en')} printable ASCII characters, and spaces between them. ${problemOf(value)}`;
}

function problemOf(value: string): string {
  if (value === '') return 'This one is empty.';
  if (value.length > maxValueLength) return `This one has ${value.length.toLocaleString('en')} characters.`;
  if (/^ | $/.test(value)) return 'This one begins or ends with a space.';
  const [other = ''] = /[^ -~]/u.exec(value) ?? [];
  return `This one contains U+${(other.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}.`;
}

/**
 * Scheme, host and port of a callback URL, as the URL parser normalizes them. The header of a subscription can be decrypted for one origin
 * only. Null if the text is not a URL.
 */
export function originOf(callbackUrl: string): string | null {
  return URL.parse(callbackUrl)?.origin ?? null;
}
