import type { InterfaceApp, Service } from '@deedwire/core';

export type NameOf<Served extends Service> = keyof Served['interfaces'] & string;

export type AppOf<Served extends Service> = InterfaceApp<NameOf<Served>> | 'webhook-worker';

/** A service, and where its apps are. */
export interface Application<Served extends Service = Service> {
  readonly service: Served;
  readonly interfaceNames: readonly NameOf<Served>[];
  /** The folder with the service, whose apps `start.ts` starts. By default, each app is in `apps/<name>`. */
  readonly folder?: string;
}
