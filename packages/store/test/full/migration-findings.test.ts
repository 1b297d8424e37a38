import { execFile, spawnSync } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { installApart } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../migrations');
const apart = await forFile(installApart('squawk'));
const squawk = join(apart.folder, 'node_modules/.bin/squawk');

// Its binary is an optional dependency, which some platforms and mirrors of the registry do not have.
const isWithoutSquawk = spawnSync(squawk, ['--version']).status !== 0 && process.env['CI'] !== 'true';

/**
 * What Squawk finds in migrations that were applied before it was used, and that never change. A new migration has no entry: fix
 * what is found, or say why it does no harm in a comment that begins with `-- squawk-ignore`.
 */
const known: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  '0001-accounts-and-credentials.sql': { 'prefer-bigint-over-smallint': 1 },
  '0002-webhooks.sql': { 'prefer-bigint-over-int': 12, 'prefer-bigint-over-smallint': 3 },
  '0004-cost-buckets.sql': { 'prefer-bigint-over-int': 2 },
  '0006-audit-triggers.sql': { 'ban-drop-not-null': 2 },
  '0008-blocked-queue-entries.sql': { 'require-concurrent-index-creation': 2 },
  '0009-webhook-upkeep.sql': {
    'prefer-bigint-over-int': 1,
    'prefer-bigint-over-smallint': 1,
    'require-concurrent-index-creation': 1,
  },
  '0019-secret-rotation-and-owner-pauses.sql': { 'require-concurrent-index-creation': 1 },
  '0020-webhook-replays.sql': { 'prefer-bigint-over-int': 4, 'prefer-bigint-over-smallint': 1 },
  '0021-webhook-exchanges.sql': { 'prefer-bigint-over-int': 6 },
  '0022-test-events.sql': { 'prefer-bigint-over-int': 1 },
  '0023-accounts-of-an-organization.sql': { 'require-concurrent-index-creation': 1 },
  '0025-exchanges-without-urls.sql': { 'ban-drop-not-null': 1, 'prefer-bigint-over-int': 2 },
  '0026-webhook-listeners.sql': { 'constraint-missing-not-valid': 1, 'require-concurrent-index-creation': 1 },
  // Of a short table.
  '0089-invites-to-keys-hold-for-all-rows.sql': { 'require-concurrent-index-deletion': 1 },
  // From 5 to 15.
  '0090-timeouts-of-subscriptions.sql': { 'prefer-bigint-over-smallint': 1 },
};

/** `applyMigrations` sets a lock timeout for each migration, and tries again. A statement that waits for no lock may take long. */
const excluded = ['require-lock-timeout', 'require-statement-timeout'];

interface Finding {
  file: string;
  rule_name: string;
}

const isAlone = ({ text }: { text: string }): boolean => text.startsWith('-- no transaction\n');

/** The number of findings of each rule, by the name of the file. */
async function check(paths: readonly string[]): Promise<Record<string, Record<string, number>>> {
  const found: Record<string, Record<string, number>> = {};
  const texts = await Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })));
  for (const [group, flags] of [
    [texts.filter((file) => !isAlone(file)), ['--assume-in-transaction']],
    [texts.filter(isAlone), []],
  ] as const) {
    if (group.length === 0) continue;
    const options = ['--pg-version=15.0', '--reporter=json', `--exclude=${excluded.join(',')}`, ...flags];
    for (const { file, rule_name: rule } of await run([...options, ...group.map(({ path }) => path)])) {
      const ofFile = (found[basename(file)] ??= {});
      ofFile[rule] = (ofFile[rule] ?? 0) + 1;
    }
  }
  return found;
}

/** Squawk exits with 1 if it finds something. */
function run(args: readonly string[]): Promise<Finding[]> {
  return new Promise((resolve, reject) => {
    execFile(squawk, args, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (stdout.startsWith('[')) resolve(JSON.parse(stdout));
      else reject(error ?? new Error(stderr));
    });
  });
}

test.skipIf(isWithoutSquawk)('no migration locks or rewrites a table for long, apart from known ones', async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).map((file) => join(folder, file));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  // Nothing uses the tables of a new database.
  const ofOlder = files.filter((_, index) => texts[index]?.startsWith('-- replaces all before it\n') !== true);
  expect(await check(ofOlder)).toEqual(known);
});
