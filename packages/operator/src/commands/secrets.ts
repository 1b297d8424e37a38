import { countSecrets, type RewrapReport, rewrapSecrets, type SecretCount } from '@deedwire/actions';
import type { Command } from 'commander';
import { createProgress } from '../progress.ts';
import { readSecretKeys, withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, print, tableFor, type OutputOptions } from '../verb.ts';

export function addSecretsCommands(program: Command, shell: Shell): void {
  const noun = program.command('secrets').description('manage the encryption of webhook secrets');

  addVerb(
    noun,
    'list',
    'count the webhook secrets and request headers that each key of WEBHOOK_SECRET_KEYS has encrypted',
  ).action(async (options: OutputOptions) => {
    const listed = await withContext(shell, countSecrets);
    print(shell, options, listed, (counts) =>
      tableFor(shell, counts, {
        table: ({ table }) => table,
        key: ({ keyId }) => keyId,
        secrets: ({ secrets }) => secrets,
      }),
    );
  });

  addVerb(
    noun,
    'rewrap',
    'encrypt all webhook secrets and request headers with the first key of WEBHOOK_SECRET_KEYS',
  ).action(async (options: OutputOptions) => {
    const secretKeys = readSecretKeys(shell);
    const progress = createProgress(shell, options);
    const onRead = (rows: number): void => progress.report(`Read ${rows.toLocaleString('en')} rows`);
    const report = await withContext(shell, (context) => rewrapSecrets({ ...context, secretKeys }, onRead)).finally(
      () => progress.end(),
    );
    print(shell, options, report, (done) =>
      tableFor(shell, changesOf(done), {
        table: ({ table }) => table,
        key: ({ keyId }) => keyId,
        before: ({ before }) => before,
        after: ({ after }) => after,
      }),
    );
    const problem = describeRest(report);
    if (problem !== null) throw new Error(problem);
  });
}

interface KeyChange extends Omit<SecretCount, 'secrets'> {
  before: number;
  after: number;
}

/** One row for each table and key that had or has secrets. */
function changesOf({ before, after }: RewrapReport): KeyChange[] {
  const changes = new Map<string, KeyChange>();
  for (const [when, counts] of [
    ['before', before],
    ['after', after],
  ] as const) {
    for (const { table, keyId, secrets } of counts) {
      const name = JSON.stringify([table, keyId]);
      const change = changes.get(name) ?? { table, keyId, before: 0, after: 0 };
      changes.set(name, { ...change, [when]: secrets });
    }
  }
  return [...changes.values()];
}

/** Why secrets are left that the current key has not encrypted. Null if there are none. */
function describeRest({ currentKeyId, after, unreadable, examples }: RewrapReport): string | null {
  const rest = after.reduce((sum, { keyId, secrets }) => sum + (keyId === currentKeyId ? 0 : secrets), 0);
  if (rest === 0) return null;
  if (unreadable === 0) {
    return (
      `Secrets that ${currentKeyId} has not encrypted: ${rest}. Others locked or changed them all the time. Check that all ` +
      'processes have this key first, and run the command again.'
    );
  }
  const lines = examples.map(({ id, reason }) => `\n  ${id}: ${reason}`).join('');
  const further = unreadable > examples.length ? `\n  and ${unreadable - examples.length} more` : '';
  return `Secrets that cannot be decrypted, and were not changed: ${unreadable}.${lines}${further}`;
}
