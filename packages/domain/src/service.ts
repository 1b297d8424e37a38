import type { Event, EventContract, RenderedEvent } from './event.ts';
import type { VersionLifecycle } from './version-lifecycle.ts';

/** The names by which clients and receivers know a service. */
export interface Names {
  /** The default of `GID_NAMESPACE`: `gid://service/Partner/1`. */
  readonly gidNamespace: string;
  /** Begins each API key. */
  readonly apiKeyPrefix: string;
  /** Begins each header that is not a standard one. */
  readonly headerPrefix: `X-${string}`;
  /** Of deliveries and handshakes, followed by a version. */
  readonly userAgent: string;
}

/** A version of the contract of an interface. */
export interface InterfaceVersion extends Readonly<VersionLifecycle> {
  /** The date that names it, for example `2026-11-01`. */
  readonly version: string;
}

/** What the platform knows of an interface, beside its contract and its code. */
export interface Interface {
  /** In headings. */
  readonly title: string;
  /** The type of its accounts, in the SDL and in global identifiers. */
  readonly account: string;
  /** The beginning of its URLs: `<path>/graphql` and `<path>/portal/`. */
  readonly path: string;
  /** The default of `PORT`. */
  readonly port: number;
  /** The default of `ADMIN_PORT`. */
  readonly adminPort: number;
  /** The types of the records that its events are about. */
  readonly records: readonly string[];
  /** Oldest first. */
  readonly versions: readonly InterfaceVersion[];
}

/** As the application writes it. */
export interface InterfaceOptions extends Pick<Interface, 'title' | 'account'> {
  /** Defaults to the name: `/lender`. */
  path?: string;
  /** Defaults to the next free pair of ports after those of the platform: 4004 and 4104. */
  port?: number;
  adminPort?: number;
  /** Defaults to none. */
  versions?: readonly InterfaceVersion[];
}

/** The application that the platform serves, as `defineService` has checked it. */
export interface Service {
  readonly names: Names;
  /** By name, which is the value in the database and in API keys, `packages/<name>-schema` and `apps/<name>-api`. */
  readonly interfaces: Readonly<Record<string, Interface>>;
  /** Also those of the platform, in the order of their contracts. */
  readonly events: readonly Event[];
}

/** As the application writes it. */
export interface ServiceOptions {
  /** They must not change after the first release: others send and read these headers, and store keys and identifiers. */
  readonly names: Names;
  readonly interfaces: Readonly<Record<string, InterfaceOptions>>;
  /** What is published of its events, and of those of the platform. Defaults to nothing. */
  readonly contracts?: readonly EventContract[];
  /** Without those of the platform. Defaults to none. */
  readonly events?: readonly RenderedEvent[];
}

/** A service that knows the names and the types of accounts of its interfaces. */
export interface ServiceOf<Options extends ServiceOptions> extends Service {
  readonly interfaces: {
    readonly [Name in keyof Options['interfaces']]: Interface & Pick<Options['interfaces'][Name], 'account'>;
  };
}
