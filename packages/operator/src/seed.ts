import type { OperatorContext } from '@deedwire/actions';

/**
 * What a new database of development has of an application, and what to try with it.
 *
 * @typeParam Key of the sample accounts: `customer` is that of the interface, and `otherCustomer` the one in the other organization
 */
export interface Seed<Key extends string = string> {
  /** The names of one organization or two, each with an account of each interface. Defaults to one. */
  readonly organizations?: readonly [name: string, otherName?: string];
  /** By their keys. Defaults to `Customer One` and `Customer Two`. */
  readonly accountNames?: Readonly<Record<string, string>>;
  /** Creates the records of a new database. */
  readonly createRecords?: (context: OperatorContext, accounts: SeededAccounts<Key>) => Promise<void>;
  /** Creates what earlier runs have used up. Its result is a part of `dev.json`. */
  readonly ensureRecords?: (context: OperatorContext, accounts: SeededAccounts<Key>) => Promise<object>;
  readonly firstSteps?: FirstSteps;
}

/** With their global identifiers. */
type SeededAccounts<Key extends string> = Readonly<Record<Key, { readonly id: string }>>;

/** What a development environment proposes, with the account of an interface. */
export interface FirstSteps {
  readonly interfaceName: string;
  /** On one line. */
  readonly query: string;
  /** A command of the operator CLI, which causes an event. It can contain the variables of the account: `"$LENDER_ID"`. */
  readonly command: string;
}
