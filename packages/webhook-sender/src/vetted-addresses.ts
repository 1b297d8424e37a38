import { isPublicAddress } from './address-guard.ts';
import { AttemptError, errorCode } from './attempt-error.ts';
import type { CallbackPolicy } from './callback-policy.ts';
import { hostAddress } from './host-address.ts';
import type { Resolve } from './resolve.ts';
import { untilAborted } from './until-aborted.ts';

// A limit on connection attempts for a name with very many addresses.
const maxAddresses = 4;

/**
 * Returns the addresses to connect to. One private address rejects all: a name with both kinds is misconfigured or is used
 * for DNS rebinding.
 *
 * @throws {AttemptError} when no address may be used: `ADDRESS_FORBIDDEN`, `DNS_FAILED` or `TIMEOUT`.
 */
export async function vettedAddresses(
  url: URL,
  policy: CallbackPolicy,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // Node does not call the lookup function for an IP address, so the address is vetted here.
  const literal = hostAddress(url);
  const addresses = literal === null ? await resolved(url.hostname, resolve, signal) : [literal];
  if (policy === 'public' && !addresses.every(isPublicAddress)) {
    // The message omits the address, so that it does not disclose internal DNS records.
    throw new AttemptError(
      'ADDRESS_FORBIDDEN',
      `${url.hostname} resolves to an address that is not public. All its addresses must be public.`,
    );
  }
  return addresses.slice(0, maxAddresses);
}

async function resolved(hostname: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  let addresses;
  try {
    addresses = await untilAborted(resolve(hostname, signal), signal);
  } catch (error) {
    if (signal.aborted)
      throw new AttemptError('TIMEOUT', `The name servers of ${hostname} did not respond.`, { cause: error });
    throw new AttemptError('DNS_FAILED', `Could not resolve ${hostname}: ${dnsProblem(errorCode(error))}.`, {
      cause: error,
    });
  }
  if (addresses.length === 0) {
    throw new AttemptError('DNS_FAILED', `Could not resolve ${hostname}: ${dnsProblem('ENODATA')}.`);
  }
  return addresses;
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
