import {
  defineService as define,
  type Interface,
  type InterfaceOptions,
  type InterfaceVersion,
  nameCommands,
  type OwnVersion,
  type PublishedEvent,
  type Service,
  type ServiceOptions,
  type VersionLifecycle,
} from '@deedwire/core';
import { webhookEventTypes } from '@deedwire/webhook-contract';

/** A version of an interface. */
export interface VersionOptions extends Partial<VersionLifecycle> {
  /** `YYYY-MM-DD`. Null unless the version is deprecated or retired. */
  deprecatedOn?: string | null;
  /** Of the half that every interface has. Defaults to the date of the version. */
  edition?: string;
  /** The module with the other half, as `version`, the value of `defineVersion`. Omitted: the version has nothing but the common half. */
  serve?: () => Promise<{ readonly version: OwnVersion }>;
}

/** As `defineService` keeps it. */
export interface ServedVersion
  extends InterfaceVersion, Required<Pick<VersionOptions, 'deprecatedOn' | 'edition'>>, Pick<VersionOptions, 'serve'> {}

interface OwnInterfaceOptions extends Omit<InterfaceOptions, 'versions'> {
  /**
   * By date, oldest first. `deedwire/<interface>/<date>.graphql` is the SDL, as `deedwire init` or `deedwire generate` has written it: exactly
   * this is served, even after an upgrade of this package.
   */
  versions: Readonly<Record<string, VersionOptions>>;
}

export interface OwnServiceOptions extends Omit<ServiceOptions, 'contracts' | 'events' | 'interfaces'> {
  readonly interfaces: Readonly<Record<string, OwnInterfaceOptions>>;
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
  // Every process, command and test of the application calls this first: messages and help name what it can run.
  nameCommands({ operator: 'npx deedwire operator', migrate: 'npx deedwire migrate', dev: 'npx deedwire dev' });
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

function served([version, options]: [string, VersionOptions]): ServedVersion {
  const { status = 'current', deprecatedOn = null, sunsetOn = null, edition = version, serve } = options;
  return { version, status, deprecatedOn, sunsetOn, edition, ...(serve && { serve }) };
}
