import { formatGid, type RecordId } from '@deedwire/domain';
import type { KnownEventVersions } from '@deedwire/store/webhook-fan-out';
import { findEventVersion } from '@deedwire/webhook-events';
import { renderers } from './renderers.ts';

/** An event, as the outbox kept it. */
export interface StoredEvent {
  id: RecordId<'WebhookEvent'>;
  type: string;
  occurredAt: Date;
  snapshot: unknown;
}

/** An event cannot be made into a payload that is as published. No later attempt can do better. */
export class RenderError extends Error {
  readonly code = 'RENDER_FAILED';
  override readonly name = 'RenderError';
}

// Published: receivers may refuse larger bodies.
const payloadMaxBytes = 256_000;

type AnyRenderer = (snapshot: unknown) => object;

const renderersByType = new Map<string, ReadonlyMap<string, AnyRenderer>>(
  // A snapshot was written under the type whose renderers get it; the payload is checked afterwards, whatever it was.
  Object.entries(renderers).map(([type, byVersion]) => [type, new Map<string, AnyRenderer>(Object.entries(byVersion))]),
);

/** The types and versions that this build can render, side by side. */
export const knownEventVersions: KnownEventVersions = (() => {
  const pairs = Array.from(renderersByType, ([type, versions]) =>
    Array.from(versions.keys(), (version) => ({ type, version })),
  ).flat();
  return { types: pairs.map(({ type }) => type), versions: pairs.map(({ version }) => version) };
})();

/**
 * The bytes to send: what is signed, stored and delivered, on every attempt the same.
 *
 * @throws RenderError when the payload is not as its contract says, or larger than 256 kB
 */
export function renderPayload(gidNamespace: string, event: StoredEvent, version: string): Buffer {
  const name = `${event.type} at ${version}`;
  const render = renderersByType.get(event.type)?.get(version);
  const contract = findEventVersion(event.type, version);
  if (render === undefined || contract === undefined) throw new RenderError(`There is no ${name}.`);

  const payload = {
    id: formatGid(gidNamespace, 'WebhookEvent', event.id),
    type: event.type,
    version,
    timestamp: event.occurredAt.toISOString(),
    data: readData(() => render(event.snapshot), name),
  };
  // The whole as receivers may rely on it, and `data` without a field that is not published.
  const checks = [contract.body.safeParse(payload), contract.data.safeParse(payload.data)];
  const problems = checks.flatMap(({ error }) => error?.issues ?? []);
  if (problems.length > 0) {
    // Where it differs, never what it holds: the message goes into logs.
    const paths = problems.map(({ path, code }) => `${path.join('.')}: ${code}`);
    throw new RenderError(`${name} is not as published: ${paths.join(', ')}.`);
  }
  const body = Buffer.from(JSON.stringify(payload));
  if (body.length > payloadMaxBytes)
    throw new RenderError(`${name} has ${body.length} bytes, more than ${payloadMaxBytes}.`);
  return body;
}

function readData(render: () => object, name: string): object {
  try {
    return render();
  } catch (cause) {
    throw new RenderError(`${name} cannot be made of its snapshot.`, { cause });
  }
}
