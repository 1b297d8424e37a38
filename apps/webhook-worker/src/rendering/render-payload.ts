import { formatGid, type RecordId } from '@deedwire/domain';
import type { KnownEventVersions } from '@deedwire/store/webhook-fan-out';
import { findEventVersion } from '@deedwire/webhook-events';
import { renderers } from './renderers.ts';

/** An event from the outbox. */
export interface StoredEvent {
  id: RecordId<'WebhookEvent'>;
  type: string;
  occurredAt: Date;
  snapshot: unknown;
}

/** No payload that matches its published schema can be rendered from an event. Retrying cannot help. */
export class RenderError extends Error {
  readonly code = 'RENDER_FAILED';
  override readonly name = 'RenderError';
}

// This limit is published: receivers may reject larger bodies.
const payloadMaxBytes = 256_000;

type AnyRenderer = (snapshot: unknown) => object;

const renderersByType = new Map<string, ReadonlyMap<string, AnyRenderer>>(
  // The cast is safe because the outbox stores each snapshot under its event type, and every payload is validated.
  Object.entries(renderers).map(([type, byVersion]) => [type, new Map<string, AnyRenderer>(Object.entries(byVersion))]),
);

/** The versions that this build can render, as two lists of equal length. */
export const knownEventVersions: KnownEventVersions = (() => {
  const pairs = Array.from(renderersByType, ([type, versions]) =>
    Array.from(versions.keys(), (version) => ({ type, version })),
  ).flat();
  return { types: pairs.map(({ type }) => type), versions: pairs.map(({ version }) => version) };
})();

/**
 * Renders the body of a webhook. The same bytes are signed, stored and sent on every attempt.
 *
 * @throws {RenderError} if the payload does not match its published schema or is larger than 256 kB.
 */
export function renderPayload(gidNamespace: string, event: StoredEvent, version: string): Buffer {
  const name = `${event.type} at ${version}`;
  const render = renderersByType.get(event.type)?.get(version);
  const contract = findEventVersion(event.type, version);
  if (render === undefined || contract === undefined) throw new RenderError(`This build cannot render ${name}.`);

  const payload = {
    id: formatGid(gidNamespace, 'WebhookEvent', event.id),
    type: event.type,
    version,
    timestamp: event.occurredAt.toISOString(),
    data: readData(() => render(event.snapshot), name),
  };
  // `body` is what receivers may rely on. `data` is strict: it also rejects fields that are not published.
  const checks = [contract.body.safeParse(payload), contract.data.safeParse(payload.data)];
  const problems = checks.flatMap(({ error }) => error?.issues ?? []);
  if (problems.length > 0) {
    // The message is logged, so it contains paths and never values.
    const paths = problems.map(({ path, code }) => `${path.join('.')}: ${code}`);
    throw new RenderError(`${name} does not match its published schema: ${paths.join(', ')}.`);
  }
  const body = Buffer.from(JSON.stringify(payload));
  if (body.length > payloadMaxBytes)
    throw new RenderError(`${name} has ${body.length} bytes; at most ${payloadMaxBytes} are allowed.`);
  return body;
}

function readData(render: () => object, name: string): object {
  try {
    return render();
  } catch (cause) {
    throw new RenderError(`${name} cannot be rendered from its snapshot.`, { cause });
  }
}
