import * as events from '@deedwire/webhook-events';
import type { EventPackage } from '../../src/events.ts';
import { type SignedRequestOptions, signedRequest as signed } from '../../src/testing.ts';
import { typicalBodies } from '../generated/typical-bodies.ts';

interface Options extends SignedRequestOptions {
  /** Fields of `data` that differ from the typical body. */
  data?: object;
}

/** A delivery of Deedwire, with the typical body of its type and version. */
export function signedRequest<const Type extends events.WebhookEvent['type']>(
  type: Type,
  version: Extract<events.WebhookEvent, { type: Type }>['version'],
  { data, ...options }: Options = {},
): Promise<Request> {
  const versions: Readonly<Record<string, { data: object }>> = typicalBodies[type];
  // Tests also send data that the contract refuses.
  const sent: [string, string, object] = [type, version, { ...versions[version]?.data, ...data }];
  const untyped: EventPackage = events;
  return signed(untyped, ...sent, { prefix: 'X-Service', ...options });
}
