import { type Event, formatGid, payloadMaxBytes, type RenderData, type Service } from '@deedwire/core';
import { type RenderedEvent, RenderError, type Renderer } from '@deedwire/webhooks/renderer';

/** One version of one event type that a service can render. */
export interface Rendering {
  readonly type: string;
  readonly version: string;
  readonly render: RenderData<unknown>;
  /** Also rejects fields that are not published. */
  readonly schema: Event['versions'][number]['data'];
}

export function renderingsOf({ type, versions }: Pick<Event, 'type' | 'versions'>): Rendering[] {
  return versions.flatMap(({ version, render, data }) =>
    render === null ? [] : [{ type, version, render, schema: data }],
  );
}

/** Renders the bodies of webhooks. The same bytes are signed, stored and sent on every attempt. */
export function createRenderer({ events }: Pick<Service, 'events'>, gidNamespace: string): Renderer {
  const renderings = new Map(
    events.map((event) => [event.type, new Map(renderingsOf(event).map((each) => [each.version, each]))]),
  );
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
function renderBody(gidNamespace: string, { type, version, render, schema }: Rendering, event: RenderedEvent): Buffer {
  const name = `${type} at ${version}`;
  let data: object;
  try {
    data = render(event.snapshot);
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
