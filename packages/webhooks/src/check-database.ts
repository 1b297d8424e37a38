import { operatorCommand, type Service } from '@deedwire/core';
import {
  checkDatabase,
  type DatabaseCheck,
  describeDatabaseCheck,
  describeUnavailable,
  type GroupRole,
  selectRolePrefix,
  selectSequences,
  type SequenceState,
  type Store,
  StoreUnavailableError,
} from '@deedwire/store';
import { historyTables } from './retention/partitions.ts';
import { readDaysAhead } from './retention/sql/partitions.ts';

export interface AppsCheck extends DatabaseCheck {
  /**
   * All whose numbers must not repeat. The problems do not contain them. Empty unless the worker is one of the apps and the login
   * may read them.
   */
  sequences: SequenceState[];
}

/** Events below the position of a subscription are not for it, and the id of a worker is its fence. */
const sequencesOfWorkers = ['webhook_queue_position', 'webhook_worker_id_seq'];

export const advanceSequencesCommand = (): string => `${operatorCommand()} database advance-sequences`;

const leastDaysAhead = 2;

/** Whether no worker may start: it would skip events without a trace. */
export function keepsWorkersFromStarting({ name, isBehind }: SequenceState): boolean {
  return isBehind && sequencesOfWorkers.includes(name);
}

/**
 * What `/ready` of apps says about their database: what `checkDatabase` finds, and for the worker also sequences that are behind
 * the rows of the database, and a history without partitions.
 *
 * @param login the group role that the login of the store needs
 * @param apps whose rights are compared. Defaults to those of the login
 */
export async function checkDatabaseOfApps(
  store: Store,
  service: Service,
  login: GroupRole,
  apps: readonly GroupRole[] = [login],
): Promise<AppsCheck> {
  const check = await checkDatabase(store, service, login, apps);
  if (!apps.includes('webhook_worker') || check.problems.length > 0) return { ...check, sequences: [] };
  try {
    const own = (await selectRolePrefix(store)) + login;
    if (check.missingRights.some(({ role }) => role === own)) return { ...check, sequences: [] };
    const sequences = await selectSequences(store);
    const days = await readDaysAhead(store, historyTables);
    return { ...check, sequences, problems: days < leastDaysAhead ? [describePartitions(days)] : [] };
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    return { ...check, sequences: [], problems: [describeUnavailable(error)] };
  }
}

/** All that keeps the apps from becoming ready, one sentence each. */
export function describeCheckOfApps(check: AppsCheck): string[] {
  return [...describeDatabaseCheck(check), ...check.sequences.filter(keepsWorkersFromStarting).map(describeSequence)];
}

function describeSequence({ name, lastNumber, highestUsed }: SequenceState): string {
  return `The sequence ${name} is at ${lastNumber}, but the rows of the database contain ${highestUsed}. Run \`${advanceSequencesCommand()}\`.`;
}

function describePartitions(days: number): string {
  const existing = days < 0 ? 'no partitions for today' : `partitions for today and ${days} more days`;
  return `The webhook history has ${existing}. The logs of the workers say why they could not create more.`;
}
