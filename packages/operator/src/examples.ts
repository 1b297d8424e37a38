import { interfaceNamesOf, interfaceOf } from '@deedwire/core';
import type { Shell } from './shell.ts';

/** What the help of commands names of the service. */
export interface Examples {
  readonly interfaceName: string;
  /** An account of the interface, as an argument: `Customer/4711`. */
  readonly account: string;
  /** The type of an event of the interface, if possible of one about a record. */
  readonly eventType: string;
  /** The record of such an event, as an argument. Null if no event has one. */
  readonly record: string | null;
}

export function examplesOf({ service }: Shell): Examples {
  const interfaceName = interfaceNamesOf(service).at(-1) ?? '';
  const events = service.events.filter(({ interfaces }) => interfaces.includes(interfaceName));
  const { type = 'webhook.test', record = null } = events.find((event) => event.record !== null) ?? {};
  const { account } = interfaceOf(service, interfaceName);
  return {
    interfaceName,
    account: `${account}/4711`,
    eventType: type,
    record: record === null ? null : `${record.type}/4711`,
  };
}
