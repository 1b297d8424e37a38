import { type InterfaceName, snapshotSchema, type SnapshotSchema } from '@deedwire/domain';
import { listWebhookEventTypes } from './webhook-event-types.ts';

/** What a build does with events for the interfaces that it serves. */
export interface EventContracts {
  /** The versions that a subscription can pin, until their sunset. */
  pins: { type: string; version: string; sunsetOn: string | null }[];
  /** The types that it appends, in test events at least, with the JSON Schema of their snapshots. */
  appends: { type: string; snapshot: SnapshotSchema }[];
}

/** Before every sunset, so that the result depends on the build only. */
const now = () => new Date(0);

/** An app appends events of its own interfaces only: test events of each type, and those of the changes that it makes. */
export function eventContractsOf(interfaceNames: readonly InterfaceName[]): EventContracts {
  const listed = interfaceNames.flatMap((interfaceName) => listWebhookEventTypes({ now }, { interfaceName }));
  const types = [...new Map(listed.map((each) => [each.type, each])).values()];
  return {
    pins: types.flatMap(({ type, versions }) => versions.map(({ version, sunsetOn }) => ({ type, version, sunsetOn }))),
    appends: types.map(({ type }) => ({ type, snapshot: snapshotSchema(type) })),
  };
}
