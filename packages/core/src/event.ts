import * as z from 'zod';
import type { VersionLifecycle } from './version-lifecycle.ts';

/** A version of the contract of an event. */
export interface EventVersionContract extends Readonly<VersionLifecycle> {
  /** The date that names it, for example `2026-11-01`. */
  readonly version: string;
  /** `YYYY-MM-DD`. Null unless the version is deprecated or retired. */
  readonly deprecatedOn: string | null;
  /** The schema of `data` in the payload. Rejects fields that are not published. */
  readonly data: z.ZodType;
}

/** What is published of an event. */
export interface EventContract {
  /** For example `order.placed`. */
  readonly type: string;
  readonly description: string;
  /** Those that have it. */
  readonly interfaces: readonly string[];
  /** Oldest first. */
  readonly versions: readonly EventVersionContract[];
}

/** Renders the `data` of a payload from a snapshot. */
export type RenderData<Snapshot, Data = object> = (snapshot: Snapshot) => Data;

/** The record that an event is about. */
export interface EventRecord<Snapshot extends object = object> {
  /** The type in global identifiers, for example `Order`. */
  readonly type: string;
  /**
   * Its id, or its global identifier. It never changes. Of an account, and of a record of a table with `persons`, it is a number that
   * `new_record_id()` has drawn. Otherwise it is any text of 1 to 200 bytes that no other record of the type in the account has, such as
   * a UUID or `SO-2026/0001`. Releases that are deployed together must return the same.
   */
  id(snapshot: Snapshot): string;
}

/** An event without its contract and its renderers. */
export interface EventDefinition<Snapshot extends object = object, Type extends string = string> {
  readonly type: Type;
  /**
   * The record that the event is about, by which its deliveries are found. Of an event with two records it is the one that changed: a line
   * and not its order. Null: it reports no change of a record.
   */
  readonly record: EventRecord<Snapshot> | null;
  /** The values of the snapshot that identify the person of the record, by their paths. */
  readonly persons: readonly string[];
  /** The one of `persons` that is the address, by which `person erase` finds the event. Null: the snapshot has none. */
  readonly address: string | null;
  /**
   * The content that the outbox stores for each event, from which every version of its payload is rendered. Ids are global identifiers,
   * times are RFC 3339 in UTC. One build writes a snapshot and another, newer or older, reads it: only add fields.
   */
  readonly snapshot: z.ZodType<Snapshot>;
  /**
   * What a test event contains. Rendered at any version, it is the example of the reference: the typical fixture of `webhook-events`. No
   * record has its ids. Free texts have characters outside ASCII: a receiver that decodes the body before it verifies refuses them.
   */
  readonly sample: (gidNamespace: string) => Required<Snapshot>;
}

/** As any build has stored it. It can lack what an earlier build did not append. */
export type SnapshotOf<Definition extends EventDefinition> = z.output<Definition['snapshot']>;

export interface EventOptions<Snapshot extends object> {
  /** Defaults to null. */
  record?: EventRecord<NoInfer<Snapshot>> | null;
  /** Defaults to none. */
  persons?: readonly string[];
  /** Defaults to null. */
  address?: string;
  snapshot: z.ZodType<Snapshot>;
  sample: (gidNamespace: string) => Required<NoInfer<Snapshot>>;
}

/** A version of the payload, with its renderer. */
export interface PublishedVersion<Snapshot, Data> {
  status: VersionLifecycle['status'];
  /** `YYYY-MM-DD`. Required if the version is deprecated or retired. */
  deprecatedOn?: string;
  sunsetOn?: string;
  /** The schema of `data` in the payload: `z.strictObject(…)`. */
  data: z.ZodType<Data>;
  /** A retired version has none. */
  render?: RenderData<Snapshot, NoInfer<Data>>;
}

/** What is published of an event that has no package of payloads. */
export interface PublicationOptions<Snapshot, Payloads> {
  description: string;
  /** Those that have it. */
  interfaces: readonly string[];
  /** By the date that names it, oldest first. */
  versions: { readonly [Version in keyof Payloads]: PublishedVersion<NoInfer<Snapshot>, Payloads[Version]> };
}

/**
 * Defines an event. With `versions`, it has its contract and its renderers. Without, a package of payloads has the contract, and
 * `withRenderers` adds the renderers.
 */
export function defineEvent<const Type extends string, Snapshot extends object>(
  type: Type,
  options: EventOptions<Snapshot> & { versions?: never },
): EventDefinition<Snapshot, Type>;
export function defineEvent<Snapshot extends object, Payloads>(
  type: string,
  options: EventOptions<Snapshot> & PublicationOptions<Snapshot, Payloads>,
): PublishedEvent<Snapshot>;
export function defineEvent<Snapshot extends object>(
  type: string,
  options: EventOptions<Snapshot> & Partial<PublicationOptions<Snapshot, Record<string, object>>>,
): EventDefinition<Snapshot> | PublishedEvent<Snapshot> {
  const { record = null, persons = [], address = null, snapshot, sample } = options;
  const { description = '', interfaces = [], versions } = options;
  const definition = { type, record, persons, address, snapshot, sample };
  if (versions === undefined) return definition;
  const published = Object.entries(versions);
  const contract = {
    type,
    description,
    interfaces,
    versions: published.map(([version, { status, deprecatedOn = null, sunsetOn = null, data }]) => {
      return { version, status, deprecatedOn, sunsetOn, data };
    }),
  };
  const renderers = published.flatMap(([version, { render }]) => (render === undefined ? [] : [[version, render]]));
  return { ...withRenderers(definition, Object.fromEntries(renderers), contract), contract };
}

/** By version. */
type Renderers<Snapshot> = Readonly<Record<string, RenderData<Snapshot>>>;

/** An event as a service lists it. */
export interface RenderedEvent<Snapshot extends object = object> extends EventDefinition<Snapshot> {
  readonly renderers: Renderers<never>;
  /** The published schemas of what the renderers return, by version. Omitted: only the worker knows them. */
  readonly payloads?: Readonly<Record<string, z.ZodType>>;
}

/** An event as a service lists it, with its contract. */
export interface PublishedEvent<Snapshot extends object = object> extends RenderedEvent<Snapshot> {
  readonly contract: EventContract;
}

/** @param contract lets `append` refuse a snapshot of which a payload does not match. Omitted: only the worker compares them. */
export function withRenderers<Snapshot extends object>(
  event: EventDefinition<Snapshot>,
  renderers: Renderers<Snapshot>,
  contract?: Pick<EventContract, 'versions'>,
): RenderedEvent<Snapshot> {
  const payloads = Object.fromEntries(contract?.versions.map(({ version, data }) => [version, data]) ?? []);
  return { ...event, renderers, payloads };
}

/** What a payload says of itself. */
interface Payload {
  readonly type: string;
  readonly version: string;
}

/** A renderer for each version of the payload of an event. */
type RenderersOf<Payloads extends Payload, Type, Snapshot> = {
  readonly [Version in Extract<Payloads, { type: Type }>['version']]: RenderData<Snapshot>;
};

/**
 * Returns `withRenderers` for an application that publishes `Payloads`, a union of types with literal `type` and `version`. The compiler
 * then refuses an event without a payload, a version of a payload without a renderer, and a renderer of another version.
 *
 * @param contracts as `defineService` takes them, for `append`
 */
export function renderersFor<Payloads extends Payload>(contracts: readonly EventContract[] = []) {
  return <Type extends Payloads['type'], Snapshot extends object>(
    event: EventDefinition<Snapshot, Type>,
    renderers: RenderersOf<Payloads, Type, Snapshot>,
  ): RenderedEvent<Snapshot> =>
    withRenderers(
      event,
      renderers,
      contracts.find(({ type }) => type === event.type),
    );
}

export interface EventVersion extends EventVersionContract {
  /** Null if the version is retired. */
  readonly render: RenderData<unknown> | null;
}

/** An event with its contract, as `defineService` has checked it. */
export interface Event extends Omit<EventContract, 'versions'>, Omit<EventDefinition, 'type'> {
  readonly versions: readonly EventVersion[];
}

/** The JSON Schema of a snapshot or of a part of one, as far as code reads it. */
export interface SnapshotSchema {
  type?: unknown;
  enum?: unknown;
  anyOf?: readonly SnapshotSchema[];
  properties?: Readonly<Record<string, SnapshotSchema>>;
  required?: readonly string[];
}

/**
 * The JSON Schema of the snapshot of an event, as it is stored. A snapshot can have more fields. A member with a default is required: `append`
 * stores the default, and renderers read it.
 */
export function snapshotSchema({ snapshot }: Pick<Event, 'snapshot'>): SnapshotSchema {
  const schema = z.toJSONSchema(snapshot, {
    io: 'input',
    override({
      zodSchema: {
        _zod: { def },
      },
      jsonSchema,
    }) {
      if (def.type !== 'object') return;
      const members = Object.entries(def.shape).filter(
        ([
          ,
          {
            _zod: { optout },
          },
        ]) => optout === undefined,
      );
      if (members.length > 0) jsonSchema.required = members.map(([name]) => name);
    },
  });
  return JSON.parse(JSON.stringify(schema));
}

/** The paths of the values that every snapshot of an event has: `order` and `order.id`. */
export function requiredPaths(event: Pick<Event, 'snapshot'>): string[] {
  return requiredPathsOf(snapshotSchema(event));
}

function requiredPathsOf({ properties = {}, required = [] }: SnapshotSchema): string[] {
  return required.flatMap((name) => [
    name,
    ...requiredPathsOf(properties[name] ?? {}).map((path) => `${name}.${path}`),
  ]);
}
