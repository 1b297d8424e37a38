import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { AttemptError, errorCode, isBug } from './attempt-error.ts';
import { addressProblem, type CallbackRules } from './callback-rules.ts';
import { hostAddress } from './host-address.ts';
import type { Resolve } from './resolve.ts';

// A limit on connection attempts for a name with very many addresses.
const maxAddresses = 4;

// The time before which the `public` policy reports no failure of a name. A name in the internal DNS gets its answer sooner
// than others, and the duration of an attempt is visible. Name servers that do not respond take longer (`resolve.ts`).
const failureMs = 1000;

/**
 * Returns the addresses to connect to: those that are allowed. Others are left out, so that the result does not depend on them. A
 * client that could tell whether a name has a forbidden address could ask for the names in our internal DNS: its own name can
 * be an alias of one for IPv4 only.
 *
 * Under the `public` policy, all names that cannot be called fail with the same error, whether they do not exist or have a
 * forbidden address. Only `hostProblem` says what was found.
 *
 * @throws {AttemptError} when no address may be used: `DNS_FAILED`, `URL_FORBIDDEN` for an address in the URL, or, under the
 *   `development` policy, `TIMEOUT`.
 */
export async function vettedAddresses(
  url: URL,
  rules: CallbackRules,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // Node does not call the lookup function for an IP address, so the address is vetted here.
  const literal = hostAddress(url);
  if (literal !== null) {
    if (addressProblem(literal, rules) === null) return [literal];
    throw new AttemptError('URL_FORBIDDEN', `The address ${literal} of the callback URL is not allowed.`);
  }

  const { hostname } = url;
  const startMs = performance.now();
  const { addresses, error } = await lookUp(hostname, resolve, signal);
  const problems = addresses.map((address) => ({ address, problem: addressProblem(address, rules) }));
  const allowed = problems.filter(({ problem }) => problem === null).map(({ address }) => address);
  if (allowed.length > 0) return inTurns(allowed).slice(0, maxAddresses);
  const forbidden = problems.find(({ problem }) => problem !== null);

  const code = signal.aborted ? 'ETIMEOUT' : error === null ? 'ENODATA' : errorCode(error);
  const found = forbidden === undefined ? code || 'no error code' : `${forbidden.address} is ${forbidden.problem}`;
  const details = { hostProblem: { host: hostname, found }, cause: error };
  if (rules.policy === 'public') await waitUntil(startMs + failureMs, signal);
  else if (forbidden === undefined) throw preciseError(hostname, code, signal.aborted, details);
  throw new AttemptError(
    'DNS_FAILED',
    `Could not resolve ${hostname} to public addresses. Check its spelling and its A and AAAA records: the name must exist in public DNS, and at least one of its addresses must be public.`,
    details,
  );
}

/** An address of each family in turn, from the first one on: this machine may have a route for one family only. */
function inTurns(addresses: readonly string[]): string[] {
  const family = isIP(addresses[0] ?? '');
  const first = addresses.filter((address) => isIP(address) === family);
  const second = addresses.filter((address) => isIP(address) !== family);
  return Array.from({ length: Math.max(first.length, second.length) }, (_, index) =>
    [first[index], second[index]].filter((address) => address !== undefined),
  ).flat();
}

/** `error` is null if the lookup succeeded, with or without addresses. */
async function lookUp(
  hostname: string,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<{ addresses: readonly string[]; error: unknown }> {
  try {
    return { addresses: await untilAborted(resolve(hostname, signal), signal), error: null };
  } catch (error) {
    if (isBug(error)) throw error;
    return { addresses: [], error };
  }
}

/** Waits until this time in `performance.now()`, at most until the signal is aborted. */
async function waitUntil(timeMs: number, signal: AbortSignal): Promise<void> {
  await delay(Math.max(0, timeMs - performance.now()), undefined, { signal }).catch(() => {});
}

function preciseError(
  hostname: string,
  code: string,
  timedOut: boolean,
  details: ConstructorParameters<typeof AttemptError>[2],
): AttemptError {
  return timedOut
    ? new AttemptError('TIMEOUT', `The name servers of ${hostname} did not respond.`, details)
    : new AttemptError('DNS_FAILED', `Could not resolve ${hostname}: ${dnsProblem(code)}.`, details);
}

function dnsProblem(code: string): string {
  switch (code) {
    case 'ENOTFOUND':
      return 'the name does not exist. Check its spelling and its DNS records';
    case 'ENODATA':
      return 'the name has no address. Add an A or AAAA record';
    case 'ETIMEOUT':
      return 'its name servers did not respond';
    case 'ESERVFAIL':
      return 'its name servers reported a failure';
    case 'EREFUSED':
      return 'its name servers refused the query';
    case 'EBADNAME':
      return 'the name is not a valid DNS name';
    default:
      return `the lookup failed${code === '' ? '' : ` (${code})`}`;
  }
}

/** Settles like `work`, or rejects with the reason of the signal as soon as it is aborted. `work` is not canceled. */
export async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
