import type { Event, EventContract, PublishedEvent, RenderedEvent } from './event.ts';
import type { VersionLifecycle } from './version-lifecycle.ts';

/** The names by which databases, clients and receivers know a service. */
export interface Names {
  /**
   * Of the service: lowercase letters, digits and underscores, 19 at most. In a new database, the names of the roles begin with it and an
   * underscore: `shop_webhook_worker`.
   */
  readonly service: string;
  /** The default of `GID_NAMESPACE`: `gid://service/Customer/1`. */
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

/** What an application adds to a version beside the half that every interface has. `defineVersion` makes it. */
export interface OwnVersion {
  /**
   * Adds its types and root fields.
   *
   * @param builder that of the schema
   * @param connectionOf adds the types of a list
   * @param version its date
   * @returns the actions that it records in the audit log
   */
  readonly addTo: (builder: never, connectionOf: never, version: string) => readonly string[];
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
  /** Defaults to the name: `/customer`. */
  path?: string;
  /** Defaults to the next free pair of ports after those of the platform: 4004 and 4104. */
  port?: number;
  adminPort?: number;
  /** Defaults to none. */
  versions?: readonly InterfaceVersion[];
}

/** What rows of a table say about a person. */
export interface Persons {
  /** The type of the records. */
  readonly record: string;
  /** The noun of their actions in the audit log: `member` of `member.remove`. */
  readonly noun: string;
  /** The column of the address. */
  readonly address: string;
  /**
   * The further columns that identify. `person erase` sets what can be null to null. The others are texts: it sets them to `erased-4711`,
   * and the address to `erased-4711@erased.invalid`, with the number of the record, of up to 19 digits. The types and the check constraints
   * must allow it: the service does not start otherwise. Constraints over columns that are not listed here are not tried. Defaults to none.
   */
  readonly columns?: readonly string[];
  /**
   * The members of the records that mutations return that have the address and the names of the person. `person erase` deletes an idempotency key that
   * contains their values. Defaults to none.
   */
  readonly knownBy?: readonly string[];
  /**
   * Whether an account cannot have two rows with one address. Spellings of one address count as several. The table then has an index that
   * begins with `account_id`, or its parents have, and it has one of the column that leads to them. Defaults to false.
   */
  readonly isAddressUnique?: boolean;
}

/** A table of the application whose rows identify persons. */
export interface PersonTable extends Required<Persons> {
  readonly table: string;
}

/**
 * What an operator does about an action of the audit log that a restore has lost. `lost`: nothing, because what the action was about is
 * lost with it.
 */
export type ActionKind = 'create' | 'delete' | 'lost' | 'update';

/** The application that the platform serves, as `defineService` has checked it. */
export interface Service {
  readonly names: Names;
  /** By name, which is the value in the database and in API keys, `packages/<name>-schema` and `apps/<name>-api`. */
  readonly interfaces: Readonly<Record<string, Interface>>;
  /** Also those of the platform, ordered by type. */
  readonly events: readonly Event[];
  /** Those of the application whose ids `new_record_id()` draws. */
  readonly tables: readonly string[];
  /** In the order in which an address is looked for. */
  readonly persons: readonly PersonTable[];
  readonly sequences: Readonly<Record<string, string>>;
  readonly auditActions: Readonly<Record<string, ActionKind>>;
  readonly clientActions: readonly string[];
  /** A folder. Null: another program creates its tables. */
  readonly migrations: URL | null;
}

/** As the application writes it. */
export interface ServiceOptions {
  /** They must not change after the first release: others send and read these headers, and store keys and identifiers. */
  readonly names: Names;
  readonly interfaces: Readonly<Record<string, InterfaceOptions>>;
  /** What is published of those of its events that have no `versions`, and of those of the platform. Defaults to nothing. */
  readonly contracts?: readonly EventContract[];
  /** Without those of the platform. Defaults to none. */
  readonly events?: readonly (RenderedEvent | PublishedEvent)[];
  /** Its tables whose ids `new_record_id()` draws, by their names. Defaults to none. */
  readonly tables?: Readonly<Record<string, { persons?: Persons }>>;
  /**
   * The sequences whose numbers a restored database must not give out twice, with the description of the option that an operator passes
   * the last number with. Defaults to none.
   */
  readonly sequences?: Readonly<Record<string, string>>;
  /** The actions of its audit entries, except changes of accounts. Defaults to none. */
  readonly auditActions?: Readonly<Record<string, ActionKind>>;
  /** Those of `auditActions` that clients take. The database lets no interface record another one. Defaults to none. */
  readonly clientActions?: readonly string[];
  /**
   * A folder of SQL files, `new URL('./migrations/', import.meta.url)`, which `database migrate` applies in the order of their names, after
   * the migrations of the platform and the interfaces. A file `rights.json` beside them has the rights that they grant, without which no app
   * becomes ready. Defaults to none: another program creates its tables.
   */
  readonly migrations?: URL;
}

/** A service that knows the names and the types of accounts of its interfaces. */
export interface ServiceOf<Options extends ServiceOptions> extends Service {
  readonly interfaces: {
    readonly [Name in keyof Options['interfaces']]: Interface & Pick<Options['interfaces'][Name], 'account'>;
  };
}
