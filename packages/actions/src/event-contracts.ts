import { type InterfaceName, snapshotSchema } from '@deedwire/domain';
import { webhookEventTypes } from '@deedwire/webhook-events';

/**
 * What a build does with events for the interfaces that it serves: the versions that a subscription can pin, until their sunset, and
 * the types that it appends, in test events at least, with the JSON Schema of their snapshots.
 */
export function eventContractsOf(interfaceNames: readonly InterfaceName[]) {
  const types = webhookEventTypes.filter(({ interfaces }) => interfaces.some((name) => interfaceNames.includes(name)));
  return {
    pins: types.flatMap(({ type, versions }) =>
      versions.flatMap(({ version, status }) => (status === 'retired' ? [] : [{ type, version }])),
    ),
    appends: types.map(({ type }) => ({ type, snapshot: snapshotSchema(type) })),
  };
}
