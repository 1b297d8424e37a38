import type { EventPackage } from '../../src/events.ts';
import { type SignedRequestOptions, signedRequest as signed } from '../../src/testing.ts';
import * as events from './order-events/index.ts';
import { typicalBodies } from './order-events/typical-bodies.ts';

interface Options extends SignedRequestOptions {
  /** Fields of `data` that differ from the typical body. */
  data?: object;
}

/** A delivery with the typical body of its type and version. */
export function signedRequest<const Type extends keyof typeof typicalBodies>(
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
