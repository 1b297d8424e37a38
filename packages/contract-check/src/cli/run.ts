import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { createApiReports } from '../api/create-api-reports.ts';
import { report, type Report } from '../change.ts';
import { overridesOf } from '../config/apply-overrides.ts';
import { readConfig } from '../config/config.ts';
import { findSchemas } from '../find/find-schemas.ts';
import { compareGraphqlFiles } from '../graphql/compare-graphql.ts';
import type { WorkflowEnvironment } from '../history/merge-base.ts';
import { InputError, errorField, failAt } from '../input-error.ts';
import { compareJsonSchemas } from '../json-schema/compare-json-schema.ts';
import { compareManifests } from '../manifest/compare-manifests.ts';
import { packageOf } from '../source/project.ts';
import { kindOfPlace, readSources } from '../source/read-source.ts';
import type { SourceText } from '../text-file.ts';
import { usesOf } from '../uses/uses.ts';
import { checkWorkspace, type WorkspaceReport } from '../workspace/check-workspace.ts';
import { compareOrRepair } from '../workspace/compare-file.ts';
import { ask } from './ask.ts';
import { changesetsFor, writeChangesets } from './changelog.ts';
import { explainRule, listRules } from './explain.ts';
import { render, type Format } from './formats.ts';
import { oneSidedReport } from './one-sided.ts';
import { UsageError, readInvocation, type Comparing, type Options } from './options.ts';
import { outcomeOfReport, outcomeOfWorkspace, type Outcome } from './outcome.ts';
import { renderAnswer } from './render-answer.ts';
import { renderFound } from './render-found.ts';
import { describeReleases } from './render-text.ts';
import { terminalText } from './terminal-text.ts';

export interface RunResult {
  /** 0: passed. 1: failed. 2: invalid usage or invalid input. 3: the answer is unknown. */
  readonly exitCode: 0 | 1 | 2 | 3;
  readonly stdout: string;
  /** One line for invalid usage or invalid input. */
  readonly stderr: string;
}

const exitCodes = { yes: 0, no: 1, unknown: 3 } as const;

export interface CommandEnvironment extends WorkflowEnvironment {
  /** The root of the repository, if git does not find it. */
  readonly GITHUB_WORKSPACE?: string | undefined;
  /** The variables that `--header` names. */
  readonly [variable: string]: string | undefined;
}

/**
 * Runs a command line without the program name.
 *
 * @param readInput reads the standard input to its end. By default, it is empty
 * @param environment the variables of a GitHub workflow
 */
export async function run(
  args: readonly string[],
  readInput: () => Uint8Array = () => Buffer.alloc(0),
  environment: CommandEnvironment = {},
): Promise<RunResult> {
  try {
    const result = await invoke(args, readInput, environment);
    return { ...result, stdout: terminalText(result.stdout, { keepsLines: true }) };
  } catch (error) {
    if (error instanceof UsageError || error instanceof InputError) {
      return { exitCode: 2, stdout: '', stderr: `${terminalText(error.message.replaceAll(/\s*\n\s*/g, ' '))}\n` };
    }
    throw error;
  }
}

async function invoke(
  args: readonly string[],
  readInput: () => Uint8Array,
  environment: CommandEnvironment,
): Promise<RunResult> {
  const version = ownVersion();
  const rendered = (outcome: Outcome, format: Format): RunResult => ({
    ...printed(render(outcome, format, version, environment.GITHUB_WORKSPACE)),
    exitCode: outcome.passed ? 0 : 1,
  });
  const invocation = readInvocation(args, version);
  if (invocation.command === 'print') return printed(invocation.text.trimEnd());
  const { command, args: given, options } = invocation;
  switch (command) {
    case 'explain':
      return printed(given[0] === undefined ? listRules() : explainRule(given[0]));
    case 'api-report':
      return apiReport(given, options);
    case 'changelog':
      return changelog(options, environment);
    case 'release':
      return release(options, environment);
    case 'uses':
      return uses(options, readInput, environment);
    case 'can-i-deploy':
    case 'can-i-retire': {
      const now = new Date();
      const answers = options.environment.map((file) => ask(given[0], file, options, environment, now));
      const worst = (['no', 'unknown'] as const).find((each) => answers.some(({ answer }) => answer === each)) ?? 'yes';
      const text =
        options.format === 'json'
          ? JSON.stringify(answers.length === 1 ? answers[0] : answers, null, 2)
          : answers.map((answer) => renderAnswer(answer, now)).join('\n');
      return { ...printed(text), exitCode: exitCodes[worst] };
    }
    case 'find':
      return printed(renderFound(findSchemas(options.root), options.root, options.write === true));
    case 'workspace':
      return rendered(outcomeOfWorkspace(await check(options, environment)), options.format);
    case 'graphql':
    case 'json-schema':
    case 'manifest':
      return rendered(await compare(command, options, readInput, environment), options.format);
  }
}

async function compare(
  command: Comparing,
  options: Options,
  readInput: () => Uint8Array,
  environment: CommandEnvironment,
): Promise<Outcome> {
  const { from, to, declared = null, config = null } = options;
  if ([...from, ...to].filter((place) => place === '-').length > 1)
    throw new UsageError(command, 'only one of --from and --to can be -');
  const { overrides = [] } = readConfig(config, '.');
  const isGraphql = command === 'graphql';
  const local = to.find((place) => kindOfPlace(place) === 'local');
  const found = local === undefined ? null : packageOf(dirname(resolve(local)));
  const oneSided = oneSidedReport(from, to);
  if (oneSided !== null) return outcomeOfReport(oneSided, declared, from.join(', '), found);
  const context = { isGraphql, readInput, headers: headersOf(command, options, environment) };
  const before = await readSources(from, { ...context, others: to });
  const now = await readSources(to, { ...context, others: from });
  // What was released can be invalid. Another place with something invalid is more likely a mistake.
  const isReleased = from.every((place) => ['git', 'npm'].includes(kindOfPlace(place)));
  const compared = isReleased
    ? compareOrRepair(before, now, now[0]?.file ?? '', (...sides) => compareSources(command, options, ...sides))
    : compareSources(command, options, before, now);
  const override = overridesOf(overrides);
  const changes = compared.changes.map((change) => {
    // A change of a JSON Schema can be in a file that the compared file refers to.
    const { file } = isGraphql ? change.location : (now[0] ?? change.location);
    return override(change, kindOfPlace(file) === 'local' ? relative('.', file).replaceAll(sep, '/') : file);
  });
  return outcomeOfReport(report(changes, compared.notices), declared, from.join(', '), found);
}

/** @throws {UsageError} when a variable is not set, or no header can have its value. */
function headersOf(
  command: Comparing | 'uses',
  { header }: Options,
  environment: CommandEnvironment,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(header).map(([name, variable]) => {
      const value = environment[variable]?.trim() ?? '';
      // Not the value, which may be a secret.
      if (!/^[\t\x20-\x7E]+$/.test(value))
        throw new UsageError(command, `--header ${name}: the variable ${variable} is not set to a line of ASCII text`);
      return [name, value];
    }),
  );
}

function compareSources(
  command: Comparing,
  options: Options,
  from: readonly SourceText[],
  to: readonly SourceText[],
): Report {
  switch (command) {
    case 'graphql':
      return compareGraphqlFiles(from, to, { ...options, directives: options.directive });
    case 'json-schema':
      return compareJsonSchemas(onlyOne('from', from), onlyOne('to', to), options);
    case 'manifest':
      return compareManifests(onlyOne('from', from), onlyOne('to', to));
  }

  function onlyOne(option: string, sources: readonly SourceText[]): SourceText {
    const [first, second] = sources;
    if (first !== undefined && second === undefined) return first;
    throw new UsageError(command, `--${option} matches ${sources.length} files, but the command compares one`);
  }
}

function check({ root, baseline, ...options }: Options, environment: WorkflowEnvironment): Promise<WorkspaceReport> {
  return checkWorkspace({ ...options, root, baselines: baseline, environment });
}

async function release({ root, config }: Options, environment: WorkflowEnvironment): Promise<RunResult> {
  const named = config === undefined ? {} : { config };
  // A release is made from what is merged, and declares nothing but the versions that it contains.
  const checked = await checkWorkspace({ root, ...named, base: 'HEAD', declared: 'none', environment });
  const { text, isComplete } = describeReleases(checked);
  return { ...printed(text), exitCode: isComplete ? 0 : 1 };
}

async function changelog(options: Options, environment: WorkflowEnvironment): Promise<RunResult> {
  const changesets = changesetsFor((await check(options, environment)).packages);
  if (changesets.length === 0) return printed('Every change is declared.');
  if (options.write !== true)
    return printed(
      changesets
        .map(({ text }) => text)
        .join('\n')
        .trimEnd(),
    );
  return printed(writeChangesets(options.root, changesets).join('\n'));
}

/** Prints the only report, or writes all of them and prints their paths. */
async function apiReport(files: readonly string[], { out }: Options): Promise<RunResult> {
  const reports = [...(await createApiReports(files))];
  if (out === undefined) return printed(reports.map(([, text]) => text.trimEnd()).join('\n'));
  return printed(reports.map(([name, text]) => write(join(out, name), text)).join('\n'));
}

/** Writes the same text to a file or to the standard output. */
async function uses(
  options: Options,
  readInput: () => Uint8Array,
  environment: CommandEnvironment,
): Promise<RunResult> {
  const { consumer, documents, output } = options;
  const context = { others: [], readInput, headers: headersOf('uses', options, environment) };
  const schema = await readSources(options.schema, { ...context, isGraphql: true });
  const events = await readSources(options.events, { ...context, isGraphql: false });
  const result = printed(JSON.stringify(usesOf(consumer, schema, documents, events), null, 2));
  return output === undefined ? result : printed(write(output, terminalText(result.stdout, { keepsLines: true })));
}

/** Writes a file, and the folders around it. Returns its path. */
function write(path: string, text: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (error) {
    failAt(path, `cannot be written (${errorField(error, 'code')})`, { cause: error });
  }
  return path;
}

function printed(text: string): RunResult {
  return { exitCode: 0, stdout: `${text}\n`, stderr: '' };
}

function ownVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return version;
}
