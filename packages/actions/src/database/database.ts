import { appOf, type InterfaceName, interfaceNamesOf, roleOf, terminalText } from '@deedwire/core';
import {
  createLoginSql,
  type DatabaseRisk,
  describeAbsentRoles,
  findAbsentRoles,
  findCertificateRisk,
  findDatabaseRisks,
  findOpenFunctions,
  findServiceProblems,
  grantsToApplication,
  type GroupRole,
  groupRolesOf,
  selectLoginPlace,
  selectRolePrefix,
  advanceSequences,
  type AdvancedSequence,
  drawNumbers,
  type PooledStore,
  selectSequences,
  tryGrowth,
} from '@deedwire/store';
import { selectLackingWorkers } from '@deedwire/store/processes';
import { type AppsCheck, checkDatabaseOfApps } from '@deedwire/webhooks/check-database';
import { appendAuditEntry } from '../kernel/audit.ts';
import type { ActionContext, OperatorContext } from '../kernel/context.ts';
import { findSharedAddresses, type SharedAddress } from '../persons/shared-addresses.ts';

/** What is not looked for, if something else makes it impossible, is empty. */
export interface OperatorsCheck extends AppsCheck {
  /** What delays events, and which logins the database does not limit. They are no problems. */
  warnings: string[];
  /** What every login may do with the rights of the owner, as SQL takes it. The problems do not contain them. */
  openFunctions: string[];
  /** They are no problems. */
  risks: DatabaseRisk[];
  /** They are no problems. */
  sharedAddresses: SharedAddress[];
  /** Why it was not tried whether the database can grow. Null if it was. */
  growthNotTried: string | null;
}

/** Checks a database as all apps together do before they become ready, and whether it can grow. */
export async function checkDatabase(context: ActionContext & { store: PooledStore }): Promise<OperatorsCheck> {
  const { store, service, now } = context;
  const check = await checkDatabaseOfApps(store, service, 'operator', groupRolesOf(service));
  const none = { warnings: [], openFunctions: [], risks: [], sharedAddresses: [] };
  if (check.problems.length > 0) return { ...check, ...none, growthNotTried: 'the database has other problems' };
  const { problem, notTried } = await tryGrowth(store);
  const mayRead = check.missingRights.length === 0;
  const ofService = mayRead ? await findServiceProblems(store, context) : [];
  const workers = mayRead
    ? await findWorkersToReplace(context, interfaceNamesOf(service))
    : { problems: [], warnings: [] };
  const absent = await findAbsentRoles(store, groupRolesOf(service), await selectRolePrefix(store));
  return {
    ...check,
    problems: [...(problem === null ? [] : [problem]), ...ofService, ...workers.problems],
    warnings: [...workers.warnings, ...(absent.length === 0 ? [] : [describeAbsentRoles(absent)])],
    openFunctions: await findOpenFunctions(store),
    risks: [...(await findDatabaseRisks(store)), ...findCertificateRisk(store.poolState().certificateEndsAt, now())],
    sharedAddresses: mayRead ? await findSharedAddresses(context) : [],
    growthNotTried: notTried,
  };
}

/**
 * A sentence about each running worker that does not render all events that only these interfaces have, because it is older. It is a
 * problem if no running worker knows the interface. Otherwise its events wait for a worker that renders them: a warning.
 */
export async function findWorkersToReplace(
  { store, service }: Pick<ActionContext, 'store' | 'service'>,
  names: readonly InterfaceName[],
): Promise<{ problems: string[]; warnings: string[] }> {
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const name of names) {
    const own = service.events.filter(({ interfaces }) => interfaces.join() === name).map(({ type }) => type);
    for (const { version, digest, lacking, isKnown } of own.length > 0 ? await selectLackingWorkers(store, own) : []) {
      const worker = `the webhook-worker ${terminalText(version)} with the contracts ${digest} runs and does not`;
      if (isKnown)
        warnings.push(
          `${worker} render ${lacking.join(', ')}: these events wait while it has their accounts; replace it`,
        );
      else problems.push(`${worker} know the ${name} interface; deploy the webhook-worker before ${appOf(name)}`);
    }
  }
  return { problems, warnings };
}

export interface ProposedLogin {
  /** The name of the app, for example `customer-api`. */
  app: string;
  login: string;
  password: string;
  /** Creates the login. */
  sql: string;
}

export interface ProposedLogins {
  logins: ProposedLogin[];
  /** The apps for which the database has no role, so that they have the login of its owner. */
  appsOfOwner: string[];
  /** With which the login of an application may call the functions that are made for it. */
  applicationSql: string[];
}

/**
 * Proposes a login for each app, with a new random password. Changes nothing.
 *
 * @param prefix of the names. Logins belong to the cluster, so it defaults to the name of the database. The roles of the apps can begin with it.
 * @param application the login of an application
 */
export async function proposeLogins(
  { store, service, random }: ActionContext,
  { prefix, application }: { prefix?: string; application?: string } = {},
): Promise<ProposedLogins> {
  const place = await selectLoginPlace(store);
  const start = prefix ?? place.database;
  const apps: [GroupRole, string][] = [
    ...interfaceNamesOf(service).map((name): [GroupRole, string] => [roleOf(name), appOf(name)]),
    ['webhook_worker', 'webhook-worker'],
    ['operator', 'operator-cli'],
  ];
  const absent = await findAbsentRoles(
    store,
    apps.map(([role]) => role),
    place.rolePrefix,
  );
  const isAbsent = (role: GroupRole): boolean => absent.includes(place.rolePrefix + role);
  const logins = apps
    .filter(([role]) => !isAbsent(role))
    .map(([role, app]) => {
      const roleName = place.rolePrefix + role;
      const isTaken = `${start}_` === place.rolePrefix;
      const login = `${start}_${isTaken ? roleName : role}`;
      const password = random.bytes(24).toString('base64url');
      return { app, login, password, sql: createLoginSql(login, password, roleName, place) };
    });
  return {
    logins,
    appsOfOwner: apps.filter(([role]) => isAbsent(role)).map(([, app]) => app),
    applicationSql: application === undefined ? [] : await grantsToApplication(store, application),
  };
}

/**
 * The highest numbers that clients may have got and that the database has lost, in decimal digits, by the sequences of the application. The
 * next number is higher.
 */
export type LastNumbers = Readonly<Record<string, string>>;

/** How many numbers can be left out at once. A number with a digit too many would make all later ones longer. */
const leftOutNumbersMax = 1_000_000;

/**
 * Advances the sequences that are behind the rows of the database, and those of the application to these numbers. Idempotent.
 *
 * @throws {Error} if a worker is running while the queue is behind, or if one of `numbers` is too far from the last number
 */
export async function advanceAllSequences(
  { store, operator }: OperatorContext,
  numbers: LastNumbers = {},
): Promise<AdvancedSequence[]> {
  return store.transaction(async (transaction) => {
    const advanced = await advanceSequences(transaction);
    for (const [sequence, number] of Object.entries(numbers)) {
      const last = (await selectSequences(transaction)).find(({ name }) => name === sequence)?.lastNumber ?? '0';
      if (BigInt(number) - BigInt(last) > leftOutNumbersMax)
        throw new Error(
          `The last ${sequence.replaceAll('_', ' ')} is ${last}, and ${number} is more than ${leftOutNumbersMax.toLocaleString('en')} beyond it. Check the number.`,
        );
      const drawn = await drawNumbers(transaction, sequence, number);
      if (drawn !== null) advanced.push(drawn);
    }
    for (const { name, ...details } of advanced) {
      const action = 'database.advance-sequences';
      await appendAuditEntry(transaction, operator, { action, subject: name, account: null, details });
    }
    return advanced;
  });
}
