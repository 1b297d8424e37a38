import { isPublicAddress } from './address-guard.ts';
import { AttemptError, errorCode } from './attempt-error.ts';
import type { CallbackPolicy } from './callback-policy.ts';
import { hostAddress } from './host-address.ts';
import type { Resolve } from './resolve.ts';
import { untilAborted } from './until-aborted.ts';

// Enough for any receiver; a name with a thousand addresses must not keep us connecting.
const maxAddresses = 4;

/**
 * The addresses to connect to. One bad address among good ones refuses all: a name that answers with both is being
 * rebound, or is misconfigured.
 * @throws AttemptError `ADDRESS_FORBIDDEN`, `DNS_FAILED`, `TIMEOUT`
 */
export async function vettedAddresses(
  url: URL,
  policy: CallbackPolicy,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // Node asks no lookup function about an address, so it is vetted here, before anything connects.
  const literal = hostAddress(url);
  const addresses = literal === null ? await resolved(url.hostname, resolve, signal) : [literal];
  if (policy === 'public' && !addresses.every(isPublicAddress)) {
    // Which address is not said: that would let anybody read our name servers' inner answers.
    throw new AttemptError('ADDRESS_FORBIDDEN', `${url.hostname} has an address that is not public.`);
  }
  return addresses.slice(0, maxAddresses);
}

async function resolved(hostname: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  let addresses;
  try {
    addresses = await untilAborted(resolve(hostname, signal), signal);
  } catch (error) {
    if (signal.aborted) throw new AttemptError('TIMEOUT', `DNS gave no answer for ${hostname}.`, { cause: error });
    throw new AttemptError('DNS_FAILED', `${hostname} could not be resolved: ${dnsProblem(errorCode(error))}.`, {
      cause: error,
    });
  }
  if (addresses.length === 0) {
    throw new AttemptError('DNS_FAILED', `${hostname} could not be resolved: the name has no address.`);
  }
  return addresses;
}

function dnsProblem(code: string): string {
  switch (code) {
    case 'ENOTFOUND':
      return 'DNS knows no such name';
    case 'ENODATA':
      return 'the name has no address';
    case 'ETIMEOUT':
      return 'its name servers did not answer';
    case 'ESERVFAIL':
      return 'its name servers failed';
    case 'EREFUSED':
      return 'its name servers refused to answer';
    case 'EBADNAME':
      return 'it is not a valid DNS name';
    default:
      return `the lookup failed${code === '' ? '' : ` (${code})`}`;
  }
}
