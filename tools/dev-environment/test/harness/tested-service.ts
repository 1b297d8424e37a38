import type { OperatorContext } from '@deedwire/actions';
import type { Service } from '@deedwire/core';
import type { InterfaceCode } from '@deedwire/graphql-server';
import type { AddCommands } from '@deedwire/operator';
import type { createStore } from '@deedwire/store';
import type { Application, NameOf } from '../../src/application.ts';
import type { SampleAccounts } from '../../src/sample-accounts.ts';

/** What writes the first rows of a database. */
export interface Seeding<Served extends Service = Service> {
  seed: (operator: OperatorContext) => Promise<SampleAccounts<Served>>;
  /** Of the release of the migrations. That of this build can call functions that the database lacks. */
  createStore?: typeof createStore;
}

/** What the harness must know of the service that its tests run. */
export interface TestedApplication<Served extends Service = Service> extends Application<Served> {
  /** Distinguishes its databases and its shared apps from those of other services, `[a-z_]+`. */
  key: string;
  /** The URL of the module that exports it. */
  module: string;
  /** The interface whose account subscribes unless a test names another one. */
  mainInterface: NameOf<Served>;
  /** Loaded by tests that start the app in their process. */
  codeOf: (name: NameOf<Served>) => Promise<InterfaceCode>;
  /** Its commands of the operator's command line. */
  commands: readonly AddCommands[];
}

export interface TestedService<
  Served extends Service,
  Seeds extends Seeding<Served>,
  Records extends object,
> extends TestedApplication<Served> {
  seeding: Seeds;
  /** What a system of apps has beside the accounts. */
  seedRecords: (operator: OperatorContext, accounts: SampleAccounts<Served>, seeding: Seeds) => Promise<Records>;
}
