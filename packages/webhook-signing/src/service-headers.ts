import { WebhookUsageError } from './errors.ts';

/** The names of the headers of the service's own scheme, as messages name them. */
export interface ServiceHeaderNames {
  readonly signature: string;
  readonly nextSignature: string;
  readonly timestamp: string;
  /** The same names in lower case. */
  readonly lowerCase: Readonly<Record<'signature' | 'nextSignature' | 'timestamp', `x-${string}`>>;
  /** The headers of both schemes, as messages name them, by their names in lower case. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The headers of Standard Webhooks. */
export const standardFields: ReadonlyMap<string, string> = new Map(
  ['webhook-signature', 'webhook-id', 'webhook-timestamp'].map((name) => [name, name]),
);

const prefixPattern = /^X-[A-Z][A-Za-z0-9]{0,31}$/;

// Kept, because a program signs and verifies with one prefix, and often.
const known = new Map<string, ServiceHeaderNames>();

/**
 * @param prefix for example `X-Service`
 * @throws {WebhookUsageError} `PREFIX_INVALID`
 */
export function serviceHeaderNames(prefix: string): ServiceHeaderNames {
  const names = known.get(prefix) ?? namesOf(prefix);
  known.set(prefix, names);
  return names;
}

function namesOf(prefix: string): ServiceHeaderNames {
  if (typeof prefix !== 'string' || !prefixPattern.test(prefix)) {
    throw new WebhookUsageError(
      'PREFIX_INVALID',
      'The prefix must be X- and a word that begins with a capital letter, for example X-Service.',
    );
  }
  const start = `x-${prefix.slice(2).toLowerCase()}` as const;
  const own = {
    signature: `${prefix}-Webhook-Signature`,
    nextSignature: `${prefix}-Webhook-Signature-Next`,
    timestamp: `${prefix}-Webhook-Timestamp`,
  };
  return {
    ...own,
    fields: new Map([...standardFields, ...Object.values(own).map((name) => [name.toLowerCase(), name] as const)]),
    lowerCase: {
      signature: `${start}-webhook-signature`,
      nextSignature: `${start}-webhook-signature-next`,
      timestamp: `${start}-webhook-timestamp`,
    },
  };
}
