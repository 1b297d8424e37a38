import {
  abortSplit,
  activateSplit,
  freezeSplit,
  listCells,
  prepareSplit,
  promoteSplit,
  pruneCell,
  readSplit,
  type SplitReport,
  type SplitStep,
  type SplitStepOfTwo,
  waitForSplit,
} from '@deedwire/actions';
import { parseGid, type RecordId } from '@deedwire/core';
import { inSchema } from '@deedwire/service-runtime';
import { StoreUnavailableError, withCellSession } from '@deedwire/store';
import type { Command } from 'commander';
import { findDirectUrl } from '../database-url.ts';
import { createProgress } from '../progress.ts';
import { readInput } from '../read-input.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { formatRecord } from '../table.ts';
import { addVerb, type Choice, notes, print, requireChoice, tableFor, type OutputOptions } from '../verb.ts';
import { cellMax, parseUpTo } from './database.ts';

interface StepOptions extends OutputOptions, Choice {
  to: number;
  leave?: string;
  stay?: string;
  standby?: string[];
  /** In seconds. */
  wait: number;
  map: string;
}

const listMaxBytes = 50_000_000;
const waitSecondsMax = 3_600;

const oldIsHeld = 'Another operator works on a split of this cell.';
const newIsHeld =
  'NEW_CELL_DATABASE_URL leads to the database of the old side, or the session of another command has not ended there.';

export function addCellCommands(program: Command, shell: Shell): void {
  const noun = program.command('cell').description('list cells, and split one');
  const split = noun.command('split').description('split this cell: docs/cells.md shows the steps in order');

  addVerb(noun, 'list', 'list the cells of what this database has rows of').action(async (options: OutputOptions) => {
    const cells = await withContext(shell, listCells);
    print(shell, options, cells, () =>
      tableFor(shell, cells, {
        cell: ({ cell, isOwn }) => (isOwn ? `${cell} (this one)` : cell),
        organizations: ({ organizations }) => organizations,
        accounts: ({ accounts }) => accounts,
        frozen: ({ frozenAccounts }) => frozenAccounts,
        'frozen since': ({ frozenSince }) => frozenSince,
        'MB to prune (estimate)': ({ bytesToPrune }) => megabytes(Number(bytesToPrune)),
      }),
    );
  });

  addVerb(noun, 'prune', 'delete the rows of what is at home in other cells, after a split')
    .option('--dry-run', 'estimate what would be deleted, and delete nothing')
    .option('--yes', 'delete it, for good')
    .addHelpText(
      'after',
      notes(`
Run it on each side once the new one has backups and all requests go to its cell: a key of an account that left is then
unknown. Accounts and organizations stay, with who owns them, and the audit log. It leaves the database to others for three
quarters of the time. After an interruption, run it again.`),
    )
    .action(async (options: StepOptions, command: Command) => {
      const isDryRun = requireChoice(options, command, 'estimate what would be deleted', 'delete it');
      const progress = createProgress(shell, options);
      const report = await withContext(shell, (context, config) =>
        withCellSession(findDirectUrl(config), oldIsHeld, (session) =>
          pruneCell({ context, session, isDryRun, onProgress: (done) => progress.report(done) }),
        ),
      ).finally(() => progress.end());
      print(shell, options, report, ({ tables, kept, keptRows }) => {
        if (tables.length === 0) return 'No rows of other cells were found';
        const table = tableFor(shell, tables, {
          table: (pruned) => pruned.table,
          'MB (estimate)': ({ bytes }) => megabytes(bytes),
          rows: ({ rows }) => (isDryRun ? '' : rows),
          'partitions dropped': ({ partitions }) => (isDryRun ? '' : partitions),
        });
        const stays = keptRows === 0 ? [] : [`${keptRows} rows stay because others refer to them:`, ...kept];
        return [table, ...stays].join('\n');
      });
    });

  addVerb(split, 'status', 'show the last split').action(async (options: OutputOptions) => {
    const found = await withContext(shell, readSplit);
    print(shell, options, found, () => {
      if (found === null) return 'No split was prepared';
      const { id: _, organizationIds, standbys, ...shown } = found;
      const lists = { organizations: organizationIds.length, standbys: standbys.join(', ') };
      return formatRecord(Object.entries({ ...shown, ...lists }));
    });
  });

  addStep('prepare', 'check both sides, and store which organizations leave', async (step, options, command) => {
    const { to: toCell, leave, stay, standby: standbys = [] } = options;
    if (leave === undefined && stay === undefined) command.error('error: pass --leave, --stay or both');
    const [leaving, staying] = [await readList(shell, step, leave), await readList(shell, step, stay)];
    return step.withNewSide((both) => prepareSplit(both, { toCell, leaving, staying, standbys }));
  })
    .requiredOption('--to <number>', 'the number of the new cell', parseUpTo(cellMax, ''))
    .option('--leave <file>', 'the organizations that leave, one global identifier in a line; - is standard input')
    .option('--stay <file>', 'the organizations that stay; without --leave, all others leave')
    .option('--standby <name...>', 'a standby of the old side, by its application_name, besides those that stream');

  const freeze = addStep('freeze', 'refuse changes of what leaves, and wait until none is open', (step, { wait }) =>
    untilInterrupted((interrupted) => freezeSplit(step, { wait, interrupted })),
  );
  addWait(freeze, 30);
  const wait = addVerb(split, 'wait', 'wait until the standbys have the freeze');
  addWait(wait, 60).action((options: StepOptions) =>
    take(options, true, (step) => ofBoth(waitForSplit)(step, options)),
  );
  addWait(addStep('promote', 'promote the new side', ofBoth(promoteSplit)), 60);
  addStep('activate', 'give the new side its number, and both sides their homes', ofBoth(activateSplit)).option(
    '--map <file>',
    'the map of moved organizations, as HAProxy names it',
    '/etc/haproxy/cells.map',
  );

  addStep('abort', 'end a split before its new side is promoted', async (step) => {
    try {
      return await step.withNewSide((both) => abortSplit(both, both.newSide));
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      return abortSplit(step, null);
    }
  });

  function addStep(
    name: string,
    description: string,
    work: (step: Step, options: StepOptions, command: Command) => Promise<SplitReport>,
  ): Command {
    return addVerb(split, name, description)
      .option('--dry-run', 'check what can be checked, and change nothing')
      .option('--yes', 'take the step')
      .action(async (options: StepOptions, command: Command) => {
        const isDryRun = requireChoice(options, command, 'check the step', 'take it');
        await take(options, isDryRun, (step) => work(step, options, command));
      });
  }

  /** Takes a step in a session with the old side, prints what it took. */
  async function take(
    options: OutputOptions,
    isDryRun: boolean,
    work: (step: Step) => Promise<SplitReport>,
  ): Promise<void> {
    const done = await withContext(shell, async (context, config) => {
      const { NEW_CELL_DATABASE_URL: newUrl } = config;
      return withCellSession(findDirectUrl(config), oldIsHeld, async (oldSide) => {
        const step = { context, oldSide, isDryRun };
        return work({
          ...step,
          withNewSide(workOfTwo) {
            if (newUrl === undefined) throw new Error('Set NEW_CELL_DATABASE_URL to the URL of the standby.');
            return withCellSession(inSchema(newUrl, config), newIsHeld, (newSide) => workOfTwo({ ...step, newSide }));
          },
        });
      });
    });
    print(shell, options, done, ({ step, parts, routes, commands }) => {
      if (parts === null) return [`${step}: done before`, ...routes].join('\n');
      const total = parts.reduce((sum, { ms }) => sum + ms, 0);
      const table = tableFor(shell, parts, {
        part: ({ part }) => part,
        ms: ({ ms }) => ms,
        found: ({ found }) => found,
      });
      return [`${step}${done.isDryRun ? ' (dry run)' : ''}: ${total} ms`, table, ...routes, ...commands].join('\n');
    });
  }
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

type Step = SplitStep & {
  withNewSide: (work: (step: SplitStepOfTwo) => Promise<SplitReport>) => Promise<SplitReport>;
};

/** A step that needs a session with the new side too. */
const ofBoth =
  (work: (step: SplitStepOfTwo, options: StepOptions) => Promise<SplitReport>) => (step: Step, options: StepOptions) =>
    step.withNewSide((both) => work(both, options));

const interruptions = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** The first Ctrl-C, or the end of the terminal, aborts the signal. Another one ends the process, as without this. */
async function untilInterrupted<Result>(work: (interrupted: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const name of interruptions) process.once(name, abort);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of interruptions) process.off(name, abort);
  }
}

function addWait(verb: Command, seconds: number): Command {
  const parse = parseUpTo(waitSecondsMax, ' of seconds');
  return verb.option('--wait <seconds>', `how long to wait, 0 to ${waitSecondsMax}`, parse, seconds);
}

/** Null without a file. @throws {Error} if a line is no global identifier of an organization */
async function readList(
  shell: Shell,
  { context }: SplitStep,
  path: string | undefined,
): Promise<RecordId<'Organization'>[] | null> {
  if (path === undefined) return null;
  const lines = (await readInput(shell, path, listMaxBytes)).toString().match(/\S+/g) ?? [];
  return lines.map((line) => {
    const id = parseGid(context.gidNamespace, 'Organization', line);
    if (id === null) throw new Error(`${path} has ${line}, which is not the global identifier of an organization.`);
    return id;
  });
}
