import type { IdempotencyErrorCode, UserError } from '@deedwire/actions/errors';
import type { EventDefinition, RenderedEvent } from '@deedwire/core';
import type { FieldRef, InputFieldsFromShape } from '@pothos/core';
import type { ResolverContext, ValueOf, VersionSchemaTypes, VersionTypes } from './version-types.ts';

type Field<Of, Name> = Name extends keyof Of ? Of[Name] : never;

/** By the convention of all mutations: `bookVisit` takes `BookVisitInput`. */
type InputOf<Types extends VersionTypes, Name extends string> = Field<Types['Inputs'], `${Capitalize<Name>}Input`>;

type PayloadOf<Types extends VersionTypes, Name> = Field<Types['Mutation'], Name>;

/** What a mutation returns besides its user errors. */
type ResultOf<Payload> = { [Name in Exclude<keyof Payload, 'userErrors'>]: NonNullable<Payload[Name]> };

type CodeOf<Payload> = Payload extends { userErrors: readonly { code: infer Code extends string }[] } ? Code : never;

/** An open transaction. */
export interface OpenChange<Code extends string> extends ResolverContext {
  /**
   * Appends an event of the caller's account: it is delivered if, and only if, the transaction commits.
   *
   * @throws {SnapshotRefusedError} if the schema of the event refuses the snapshot, or one of its payloads cannot be delivered
   */
  append: <Snapshot extends object>(
    event: RenderedEvent<Snapshot> & EventDefinition<Snapshot>,
    snapshot: Required<NoInfer<Snapshot>>,
  ) => Promise<void>;
  /** Ends the function and rolls back: nothing is changed, and the client gets the errors, which `inputError` makes. */
  refuse: (...userErrors: readonly [UserError<Code>, ...UserError<Code>[]]) => never;
}

export interface ChangeOptions<Types extends VersionTypes, Name extends string> {
  /** The fields of the input. With `idempotencyKey`, a repeated request returns the first result. */
  input: (
    t: PothosSchemaTypes.InputFieldBuilder<VersionSchemaTypes<Types>, 'InputObject'>,
  ) => InputFieldsFromShape<VersionSchemaTypes<Types>, InputOf<Types, Name>, 'InputObject'>;
  /** The codes of the user errors: those of `idempotencyErrorCodes`, and what `run` refuses with. */
  codes: readonly CodeOf<PayloadOf<Types, Name>>[];
  /** The fields of the payload besides `userErrors`. They can be null. */
  payload: (
    t: PothosSchemaTypes.ObjectFieldBuilder<VersionSchemaTypes<Types>, Omit<PayloadOf<Types, Name>, 'userErrors'>>,
  ) => {
    [Part in Exclude<keyof PayloadOf<Types, Name>, 'userErrors'>]: FieldRef<
      VersionSchemaTypes<Types>,
      ValueOf<PayloadOf<Types, Name>[Part]>,
      'Object'
    >;
  };
  /** In the audit log: `visit.book`. One of `clientActions` of the service. */
  action: string;
  /** Can run again, in a new transaction, so it changes nothing outside of the transaction. What it throws rolls back. */
  run: (
    input: InputOf<Types, Name>,
    change: OpenChange<Exclude<CodeOf<PayloadOf<Types, Name>>, IdempotencyErrorCode>>,
  ) => Promise<ResultOf<PayloadOf<Types, Name>>>;
}

/**
 * Adds `Mutation.<name>` with its types `<Name>Input`, `<Name>Payload`, `<Name>UserError` and `<Name>UserErrorCode`. What it changes, its
 * events, the entry of the audit log and the idempotency key are committed together.
 */
export type AddChange<Types extends VersionTypes> = <Name extends keyof Types['Mutation'] & string>(
  name: Name,
  options: ChangeOptions<Types, Name>,
) => void;
