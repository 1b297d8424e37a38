import type { InterfaceApp, Service } from '@deedwire/core';

export type NameOf<Served extends Service> = keyof Served['interfaces'] & string;

export type AppOf<Served extends Service> = InterfaceApp<NameOf<Served>> | 'webhook-worker';

/** A service, and where the processes of its apps begin. */
export interface Application<Served extends Service = Service> {
  readonly service: Served;
  readonly interfaceNames: readonly NameOf<Served>[];
  /** The entry file of an app, in the folder of the workspace. Defaults to that of `apps/<name>`. */
  readonly entryOf?: (app: AppOf<Served>) => string;
}
