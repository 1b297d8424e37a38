import {
  defineService as define,
  type InterfaceOptions,
  type Interface,
  type InterfaceVersion,
  type PublishedEvent,
  type Service,
  type ServiceOptions,
  type VersionLifecycle,
} from '@deedwire/core';
import { webhookEventTypes } from '@deedwire/webhook-contract';

/** A version of an interface that has nothing but what every interface has. */
export interface CommonVersion extends Partial<VersionLifecycle> {
  /** `YYYY-MM-DD`. Null unless the version is deprecated or retired. */
  deprecatedOn?: string | null;
}

/** As `defineService` keeps it. */
export interface ServedVersion extends InterfaceVersion {
  readonly deprecatedOn: string | null;
}

interface CommonInterfaceOptions extends Omit<InterfaceOptions, 'versions'> {
  /**
   * By date, oldest first. `deedwire/<interface>/<date>.graphql` is the SDL, as `deedwire init` has written it: exactly this is served,
   * even after an upgrade of this package.
   */
  versions: Readonly<Record<string, CommonVersion>>;
}

export interface OwnServiceOptions extends Omit<ServiceOptions, 'contracts' | 'events' | 'interfaces'> {
  readonly interfaces: Readonly<Record<string, CommonInterfaceOptions>>;
  /** Defaults to none: then there are only those of the platform, such as `webhook.test`. */
  readonly events?: readonly PublishedEvent[];
}

/** A service that knows the names of its interfaces. */
export interface OwnService<Options extends OwnServiceOptions> extends Service {
  readonly interfaces: { readonly [Name in keyof Options['interfaces']]: Interface };
}

/**
 * Checks what an application says of itself, and completes it. The worker, the interfaces and the commands take the same value.
 *
 * @throws {ServiceError} with all faults
 */
export function defineService<const Options extends OwnServiceOptions>(options: Options): OwnService<Options> {
  const { interfaces, events = [], ...rest }: OwnServiceOptions = options;
  const names = Object.keys(interfaces);
  const entries = Object.entries(interfaces).map(
    ([name, { versions, ...own }]) => [name, { ...own, versions: Object.entries(versions).map(served) }] as const,
  );
  const service = define({
    ...rest,
    interfaces: Object.fromEntries(entries),
    contracts: webhookEventTypes.map((own) => ({ ...own, interfaces: names })),
    events,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each name
  return service as OwnService<Options>;
}

function served([version, { status = 'current', deprecatedOn = null, sunsetOn = null }]: [
  string,
  CommonVersion,
]): ServedVersion {
  return { version, status, deprecatedOn, sunsetOn };
}
