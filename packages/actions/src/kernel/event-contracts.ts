import { type InterfaceName, type Service, snapshotSchema } from '@deedwire/core';

/**
 * What a build does with events for the interfaces that it serves: the versions that a subscription can pin, until their sunset, and
 * the types that it appends, in test events at least, with the JSON Schema of their snapshots.
 */
export function eventContractsOf({ events }: Service, interfaceNames: readonly InterfaceName[]) {
  const own = events.filter(({ interfaces }) => interfaces.some((name) => interfaceNames.includes(name)));
  return {
    pins: own.flatMap(({ type, versions }) =>
      versions.flatMap(({ version, status }) => (status === 'retired' ? [] : [{ type, version }])),
    ),
    appends: own.map((event) => ({ type: event.type, snapshot: snapshotSchema(event) })),
  };
}

/** The package of the schema of an interface, as its builds and an export of the environment name it. */
export function contractPackageOf(name: InterfaceName): string {
  return `@deedwire/${name}-schema`;
}
