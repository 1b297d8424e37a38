import { formatGid } from '@deedwire/domain';
import { findEventVersion } from '@deedwire/webhook-events';
import { type RenderedEvent, RenderError, type Renderer } from '@deedwire/webhooks/renderer';
import { renderers } from './generated/renderers.ts';
import type { RenderData, Renderers } from './render-data.ts';

// This limit is published: receivers may reject larger bodies.
const payloadMaxBytes = 256_000;

/** One version of one event type that this build can render. */
export interface Rendering {
  readonly type: string;
  readonly version: string;
  readonly renderData: RenderData<unknown>;
  /** Also rejects fields that are not published. */
  readonly schema: NonNullable<ReturnType<typeof findEventVersion>>['data'];
}

/** By type, then by version. */
type Renderings = ReadonlyMap<string, ReadonlyMap<string, Rendering>>;

function renderingsOf(byType: Renderers): Renderings {
  return new Map(
    // Safe, because the outbox stores each snapshot under its event type, and every payload is validated.
    Object.entries(byType).map(([type, byVersion]) => [
      type,
      renderingsOfType(type, new Map<string, RenderData<unknown>>(Object.entries(byVersion))),
    ]),
  );
}

function renderingsOfType(type: string, byVersion: ReadonlyMap<string, RenderData<unknown>>): Map<string, Rendering> {
  const found = new Map<string, Rendering>();
  for (const [version, renderData] of byVersion) {
    const contract = findEventVersion(type, version);
    if (contract !== undefined) found.set(version, { type, version, renderData, schema: contract.data });
  }
  return found;
}

/** The versions that this build can render. */
export const knownEventVersions: readonly Rendering[] = [...renderingsOf(renderers).values()].flatMap((versions) => [
  ...versions.values(),
]);

/** Renders the bodies of webhooks. The same bytes are signed, stored and sent on every attempt. */
export function createRenderer(gidNamespace: string, byType = renderers): Renderer {
  const renderings = renderingsOf(byType);
  return {
    knowsType: (type) => renderings.has(type),
    knows: (type, version) => renderings.get(type)?.has(version) === true,
    render(event, version) {
      const rendering = renderings.get(event.type)?.get(version);
      if (rendering === undefined) throw new RenderError(`This build cannot render ${event.type} at ${version}.`);
      return renderBody(gidNamespace, rendering, event);
    },
  };
}

/** The envelope is valid by construction. `data` comes from a snapshot that another build may have written. */
function renderBody(
  gidNamespace: string,
  { type, version, renderData, schema }: Rendering,
  event: RenderedEvent,
): Buffer {
  const name = `${type} at ${version}`;
  let data: object;
  try {
    data = renderData(event.snapshot);
  } catch (cause) {
    throw new RenderError(`${name} cannot be rendered from its snapshot.`, { cause });
  }
  const { error } = schema.safeParse(data);
  if (error !== undefined) {
    // The message is logged, so it contains paths and never values.
    const paths = error.issues.map((issue) => `${['data', ...issue.path].join('.')}: ${issue.code}`);
    throw new RenderError(`${name} does not match its published schema: ${paths.join(', ')}.`);
  }
  const id = formatGid(gidNamespace, 'WebhookEvent', event.id);
  const body = Buffer.from(JSON.stringify({ id, type, version, timestamp: event.occurredAt.toISOString(), data }));
  if (body.length <= payloadMaxBytes) return body;
  throw new RenderError(`${name} has ${body.length} bytes; at most ${payloadMaxBytes} are allowed.`);
}
