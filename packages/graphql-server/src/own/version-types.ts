import type { BaseTypes } from '../schema/base-types.ts';

/** What `deedwire generate` writes of the SDL of a version. */
export interface VersionTypes {
  /** The object types of the application, by name, without the fields that have arguments. */
  Objects: object;
  /** Its input types, by name. */
  Inputs: object;
  /** The root fields of the application, with the types of their values. */
  Query: object;
  Mutation: object;
}

/**
 * Runs the statement that the template is, and returns its rows. Each value is a parameter of the statement, never a part of its text.
 * A `bigint` is a string, and a `timestamptz` is a `Date`. Tables of other schemas are named with them: `public.invoice`.
 *
 * @throws {StoreUnavailableError} when the database is unavailable
 */
export type Sql = <Row extends object>(parts: TemplateStringsArray, ...values: readonly SqlValue[]) => Promise<Row[]>;

export type SqlValue = string | number | boolean | Date | null | readonly (string | number)[];

/** Who sent a request. */
export interface RequestCaller {
  accountId: string;
  clientId: string;
  /** Of the key, or of the session of the portal. */
  abilities?: readonly string[];
}

/** The account for which a request was sent. */
export interface RequestAccount {
  /** Its global identifier. */
  id: string;
  /** The id by which the application knows it. Null: an operator has created it. */
  externalId: string | null;
  name: string;
}

/** What a resolver of the application gets. */
export interface ResolverContext {
  /** Who sent the request. A statement about rows of an account names it: `where account_id = ${caller.accountId}`. */
  caller: RequestCaller;
  /** Reads the account of the caller. */
  account: () => Promise<RequestAccount>;
  /** Runs a statement with the rights of the interface: in the transaction of a change, and elsewhere in none. */
  sql: Sql;
  /** The global identifier of a record, by its id in the application. */
  gid: (typeName: string, id: string) => string;
  /**
   * The id in the identifier of a record that a client has passed, a number of `new_record_id()`. Null for any other text, and for a record of
   * another type: treat it as one that does not exist.
   */
  idOf: (typeName: string, gid: string) => string | null;
}

/** The types by which Pothos checks the resolvers of a version. */
export type VersionSchemaTypes<Types extends VersionTypes> = PothosSchemaTypes.ExtendDefaultTypes<
  BaseTypes & { Context: ResolverContext; Objects: Types['Objects']; Inputs: Types['Inputs'] }
>;

/** What Pothos infers of a field whose value has this type. */
export type ValueOf<Value> = null extends Value
  ? PresentValueOf<NonNullable<Value>> | null | undefined
  : PresentValueOf<Value>;

type PresentValueOf<Value> = Value extends readonly (infer Item)[] ? readonly ValueOf<Item>[] : Value;
