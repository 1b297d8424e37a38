import { minuteOf } from './time.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'idle';

const tones: readonly (readonly [tone: Tone, values: readonly string[]])[] = [
  ['good', ['HEALTHY', 'DELIVERED', 'COMPLETED', 'CURRENT', 'ADDED', 'CONFIRMED']],
  ['warn', ['RETRYING', 'PENDING', 'RUNNING', 'DEPRECATED', 'CHANGED', 'NOT_CONFIRMED']],
  ['bad', ['FAILING', 'FAILED', 'RETIRED', 'REMOVED', 'STOPPED']],
];

/** The tone of an enum value. A value that this release does not know is idle. */
export function toneOf(value: string): Tone {
  return tones.find(([, values]) => values.includes(value))?.[0] ?? 'idle';
}

/** An enum value for people: `CONNECTION_FAILED` as `Connection failed`. */
export function wordOf(value: string): string {
  const words = value.toLowerCase().replaceAll('_', ' ');
  return words.replace(/^(?:dns|tls)\b|^./, (start) => start.toUpperCase());
}

interface Result {
  readonly responseStatus: number | null;
  readonly error: string | null;
}

/** What an attempt resulted in: `503`, or why no complete response arrived. */
export function resultOf({ responseStatus, error }: Result): string {
  return error === null ? String(responseStatus) : wordOf(error);
}

const failures: Readonly<Record<string, string>> = {
  ADDRESS_FORBIDDEN: 'the callback URL is not allowed',
  CONNECTION_FAILED: 'the connection failed',
  DNS_FAILED: 'no public address of the host name was found',
  PROTOCOL_ERROR: 'the response was not valid HTTP',
  RENDERING_FAILED: 'Deedwire could not render the payload',
  TIMEOUT: 'the request timed out',
  TLS_FAILED: 'the TLS connection failed',
};

/** What an attempt failed with, in a sentence. */
export function failureOf(result: Result): string {
  return failures[result.error ?? ''] ?? resultOf(result);
}

export function resultTone({ responseStatus, error }: Result): Tone {
  return error === null && String(responseStatus).startsWith('2') ? 'good' : 'bad';
}

const delays: Readonly<Record<string, string>> = {
  PAUSED: 'Paused',
  BREAKER_OPEN: 'On hold: the endpoint is failing',
  RETRY_AFTER: 'On hold: the endpoint asked to wait',
  RETRY_SCHEDULED: 'Waiting for its retry',
  NO_WORKER: 'Deedwire sends nothing at the moment',
  WAITING_FOR_TURN: 'In the queue',
  LIVE_TRAFFIC: 'Newer deliveries go first',
};

/** What a delivery or a replay waits for. */
export function delayOf(reason: string): string {
  return delays[reason] ?? wordOf(reason);
}

/** Counts are kept for so long. */
const keptMs = 7 * 86_400_000;

/** Counts are stored once a minute, a few seconds later. */
const countedAfterMs = 70_000;

/** Without it, a count says nothing about the last minute. */
export function countedUntil(readAtMs: number): string {
  return `counted until ${minuteOf(new Date(readAtMs - countedAfterMs).toISOString())}`;
}

/** A delivery that is not counted yet can have been delivered. */
export function noneCounted(createdAt: string, readAtMs: number): string {
  const isNew = readAtMs - Date.parse(createdAt) < keptMs;
  return `None ${isNew ? '' : 'in the last 7 days, '}${countedUntil(readAtMs)}`;
}

const pauses: Readonly<Record<string, string>> = {
  OWNER: 'The account paused it. Resume it to send the events that it missed.',
  OPERATOR: 'An operator paused it. Resume it, or ask the operator.',
  GONE: 'The callback URL answered 410 Gone. Restore the endpoint and resume, or change the URL.',
  FAILING: 'All attempts failed for 96 hours. Fix the endpoint and resume, then resend what failed.',
  VERSION_RETIRED: 'Its payload version has ended. Change to another version, which resumes it.',
};

export function pauseOf(reason: string | null): string {
  return pauses[reason ?? ''] ?? 'It is paused. Its events are kept.';
}

const holds: Readonly<Record<string, string>> = {
  PAUSED: 'The subscription is paused: nothing is sent until it is resumed.',
  BREAKER_OPEN: 'The endpoint is failing: nothing is sent until one delivery succeeds.',
  RETRY_AFTER: 'The endpoint asked to wait: nothing is sent until then.',
  NO_WORKER: 'Deedwire sends nothing at the moment. If that lasts, tell the operator.',
};

/** Why nothing of a resend is sent now, and what changes that. Null if it only takes its turn. */
export function holdOf(reason: string | null): string | null {
  return holds[reason ?? ''] ?? null;
}

/** `1,204 deliveries` */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** The number of what a page has, with `+` if there are more. */
export function atLeast(page: { nodes: readonly unknown[]; pageInfo: { hasNextPage: boolean } }): string {
  return `${page.nodes.length}${page.pageInfo.hasNextPage ? '+' : ''}`;
}

/** The sentences that apply, as one text. */
export function sentences(...parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(' ');
}

/** Null for a text that is no URL. */
export function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

export function hostOf(url: string): string {
  return urlOf(url)?.host ?? url;
}

/** A name for people: that of the owner, or the host of the URL. */
export function nameOf({ name, callbackUrl }: { name: string | null; callbackUrl: string }): string {
  return name ?? hostOf(callbackUrl);
}

/** The number in a global identifier, for a URL. */
export function numberOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}
