import {
  type EventContract,
  type EventRecord,
  type RenderedEvent,
  defineEvent as define,
  withRenderers,
} from '@deedwire/core';
import { strict } from '@deedwire/webhook-contract/strict';
import type * as z from 'zod';
import { requireOwnSchema } from './own-schema.ts';

/** A version of the payload of an event. */
export interface PayloadVersion<Snapshot extends object, Data extends z.ZodObject> {
  /** Defaults to `current`. Only subscriptions that name a preview get it. */
  status?: 'preview' | 'current' | 'deprecated' | 'retired';
  /** `YYYY-MM-DD`. Defaults to null: the version is neither deprecated nor retired. */
  deprecatedOn?: string;
  /** `YYYY-MM-DD`, the day from which subscriptions that still pin the version are paused. Defaults to null: no sunset is planned. */
  sunsetOn?: string;
  /** The schema of `data` in the payload. What it does not have is never sent. */
  data: Data;
  /** Makes `data` of the snapshot. Null if the version is retired. */
  render: ((snapshot: Snapshot) => z.input<Data>) | null;
}

export interface ServiceEventOptions<Snapshot extends object, Payloads extends Readonly<Record<string, z.ZodObject>>> {
  /** What has happened, in one sentence. Customers read it beside the type. */
  description: string;
  /** The names of the interfaces whose accounts can subscribe to it. `append` needs exactly one. */
  interfaces: readonly string[];
  /** The record that the event is about, by which its deliveries are found. Defaults to null: it reports no change of a record. */
  record?: EventRecord<NoInfer<Snapshot>> | null;
  /** The values of the snapshot that identify the person of the record, by their paths: `order.email`. `person erase` replaces them. Defaults to none. */
  persons?: readonly string[];
  /** The one of `persons` that is the address, by which `person erase` finds the event. Defaults to null: the snapshot has none. */
  address?: string;
  /**
   * The content that is stored for each event, from which every version of its payload is rendered. One build of the application appends a
   * snapshot and another, newer or older, renders it: only add members, and make them optional.
   */
  snapshot: z.ZodType<Snapshot>;
  /** What a test event contains. No record has its ids. */
  sample: (gidNamespace: string) => Required<NoInfer<Snapshot>>;
  /** By date, `YYYY-MM-DD`, oldest first. */
  versions: { readonly [Version in keyof Payloads]: PayloadVersion<NoInfer<Snapshot>, Payloads[Version]> };
}

/** An event as `defineService` and `append` take it. */
export interface ServiceEvent<Snapshot extends object = object> extends RenderedEvent<Snapshot> {
  readonly contract: EventContract;
}

/**
 * Defines an event, the snapshot that the application appends, and each version of the payload that customers receive.
 *
 * @param type `<noun>.<participle>`: `order.paid`
 * @throws {TypeError} if a schema is made by another copy of zod, or of a kind that a payload cannot have
 */
export function defineEvent<
  const Type extends string,
  Snapshot extends object,
  Payloads extends Readonly<Record<string, z.ZodObject>>,
>(type: Type, options: ServiceEventOptions<Snapshot, Payloads>): ServiceEvent<Snapshot> & { readonly type: Type } {
  const { description, interfaces, versions, ...definition } = options;
  requireOwnSchema(definition.snapshot, `${type}: snapshot`);
  const entries = Object.entries<PayloadVersion<Snapshot, z.ZodObject>>(versions);
  const contract: EventContract = {
    type,
    description,
    interfaces,
    versions: entries.map(([version, { status = 'current', deprecatedOn = null, sunsetOn = null, data }]) => {
      const path = `${type} at ${version}: data`;
      requireOwnSchema(data, path);
      return { version, status, deprecatedOn, sunsetOn, data: strict(data, path) };
    }),
  };
  const renderers = Object.fromEntries(
    entries.flatMap(([version, { render }]) => (render === null ? [] : [[version, render]])),
  );
  return { ...withRenderers(define(type, definition), renderers), type, contract };
}
