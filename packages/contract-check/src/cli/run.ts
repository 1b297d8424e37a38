import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { createApiReports } from '../api/create-api-reports.ts';
import { report, type Report } from '../change.ts';
import { overridesOf } from '../config/apply-overrides.ts';
import { readConfig } from '../config/config.ts';
import { findSchemas } from '../find/find-schemas.ts';
import { compareGraphqlFiles } from '../graphql/compare-graphql.ts';
import { RepositoryError } from '../history/git.ts';
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
import { renderers } from './formats.ts';
import { oneSidedReport } from './one-sided.ts';
import { UsageError, readInvocation, type CommandLine, type CommandName } from './options.ts';
import { outcomeOfReport, outcomeOfWorkspace, type Outcome } from './outcome.ts';
import { jsonLines, linesOf, printedLines, type Line } from './printed-line.ts';
import { renderAnswer } from './render-answer.ts';
import { renderFound } from './render-found.ts';
import { describeReleases } from './render-text.ts';

export interface RunResult {
  /** 0: passed. 1: failed. 2: invalid usage or invalid input. 3: the answer is unknown. */
  readonly exitCode: 0 | 1 | 2 | 3;
  readonly stdout: string;
  /** One line for invalid usage or invalid input, or a notice. */
  readonly stderr: string;
}

/** What a command returns. */
interface Printed {
  readonly exitCode: RunResult['exitCode'];
  readonly lines: readonly Line[];
  /** For the standard error. */
  readonly notice?: string | null;
}

const exitCodes = { yes: 0, no: 1, unknown: 3 } as const;

export interface CommandEnvironment extends WorkflowEnvironment {
  /** The root of the repository, if there is no `.git`. */
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
    const version = ownVersion();
    const invocation = readInvocation(args, version);
    const {
      exitCode,
      lines,
      notice = null,
    } = typeof invocation === 'string'
      ? printed(linesOf(invocation.trimEnd()))
      : await commands[invocation.command]({ ...invocation, version, readInput, environment });
    return { exitCode, stdout: printedLines(lines), stderr: notice === null ? '' : printedLines([notice]) };
  } catch (error) {
    if (error instanceof UsageError || error instanceof InputError || error instanceof RepositoryError) {
      return { exitCode: 2, stdout: '', stderr: printedLines([error.message.replaceAll(/\s*\n\s*/g, ' ')]) };
    }
    throw error;
  }
}

/** A command line, and what a command reads besides. */
interface Given extends CommandLine {
  readonly version: string;
  readonly readInput: () => Uint8Array;
  readonly environment: CommandEnvironment;
}

const commands: Readonly<Record<CommandName, (given: Given) => Printed | Promise<Printed>>> = {
  find: ({ options }) => printed(renderFound(findSchemas(options.root), options.root, options.write === true)),
  graphql: compare,
  'json-schema': compare,
  manifest: compare,
  workspace: async (given) => rendered(given, outcomeOfWorkspace(await check(given))),
  changelog,
  'api-report': apiReport,
  release,
  uses,
  'can-i-deploy': answer,
  'can-i-retire': answer,
  explain: ({ args: [rule] }) => printed(linesOf(rule === undefined ? listRules() : explainRule(rule))),
};

async function compare(given: Given): Promise<Printed> {
  const { command, options, readInput } = given;
  const { from, to, declared = null, config = null } = options;
  if ([...from, ...to].filter((place) => place === '-').length > 1)
    throw new UsageError(command, 'only one of --from and --to can be -');
  const { overrides = [] } = readConfig(config, '.');
  const isGraphql = command === 'graphql';
  const local = to.find((place) => kindOfPlace(place) === 'local');
  const found = local === undefined ? null : packageOf(dirname(resolve(local)));
  const outcomeOf = (result: Report) => rendered(given, outcomeOfReport(result, declared, from.join(', '), found));
  const oneSided = oneSidedReport(from, to);
  if (oneSided !== null) return outcomeOf(oneSided);
  const context = { isGraphql, readInput, headers: headersOf(given) };
  const before = await readSources(from, { ...context, others: to });
  const now = await readSources(to, { ...context, others: from });
  // What was released can be invalid. Another place with something invalid is more likely a mistake.
  const isReleased = from.every((place) => ['git', 'npm'].includes(kindOfPlace(place)));
  const compared = isReleased
    ? compareOrRepair(before, now, now[0]?.file ?? '', (...sides) => compareSources(given, ...sides))
    : compareSources(given, before, now);
  const override = overridesOf(overrides);
  const changes = compared.changes.map((change) => {
    // A change of a JSON Schema can be in a file that the compared file refers to.
    const { file } = isGraphql ? change.location : (now[0] ?? change.location);
    return override(change, kindOfPlace(file) === 'local' ? relative('.', file).replaceAll(sep, '/') : file);
  });
  return outcomeOf(report(changes, compared.notices));
}

/** @throws {UsageError} when a variable is not set, or no header can have its value. */
function headersOf({ command, options, environment }: Given): Record<string, string> {
  return Object.fromEntries(
    Object.entries(options.header).map(([name, variable]) => {
      const value = environment[variable]?.trim() ?? '';
      // Not the value, which may be a secret.
      if (!/^[\t\x20-\x7E]+$/.test(value))
        throw new UsageError(command, `--header ${name}: the variable ${variable} is not set to a line of ASCII text`);
      return [name, value];
    }),
  );
}

function compareSources({ command, options }: Given, from: readonly SourceText[], to: readonly SourceText[]): Report {
  if (command === 'graphql') return compareGraphqlFiles(from, to, { ...options, directives: options.directive });
  const [before, now] = [onlyOne('from', from), onlyOne('to', to)];
  return command === 'manifest' ? compareManifests(before, now) : compareJsonSchemas(before, now, options);

  function onlyOne(option: string, sources: readonly SourceText[]): SourceText {
    const [first, second] = sources;
    if (first !== undefined && second === undefined) return first;
    throw new UsageError(command, `--${option} matches ${sources.length} files, but the command compares one`);
  }
}

function answer({ args: [version], options, environment }: Given): Printed {
  const now = new Date();
  const answers = options.environment.map((file) => ask(version, file, options, environment, now));
  const worst = (['no', 'unknown'] as const).find((each) => answers.some((one) => one.answer === each)) ?? 'yes';
  const lines =
    options.format === 'json'
      ? jsonLines(answers.length === 1 ? answers[0] : answers)
      : answers.flatMap((each) => renderAnswer(each, now));
  return { lines, exitCode: exitCodes[worst] };
}

function check({ options: { baseline, ...options }, environment }: Given): Promise<WorkspaceReport> {
  return checkWorkspace({ ...options, baselines: baseline, environment });
}

async function release({ options: { root, config }, environment }: Given): Promise<Printed> {
  const named = config === undefined ? {} : { config };
  // A release is made from what is merged, and declares nothing but the versions that it contains.
  const checked = await checkWorkspace({ root, ...named, base: 'HEAD', declared: 'none', environment });
  const { lines, isComplete } = describeReleases(checked);
  return { lines, exitCode: isComplete ? 0 : 1 };
}

async function changelog(given: Given): Promise<Printed> {
  const { root, write: isWritten } = given.options;
  const changesets = changesetsFor((await check(given)).packages);
  if (changesets.length === 0) return printed(['Every change is declared.']);
  if (isWritten === true) return printed(writeChangesets(root, changesets));
  return printed(changesets.flatMap(({ lines }, index) => (index === 0 ? lines : ['', ...lines])));
}

/** Prints the only report, or writes all of them and prints their paths. */
async function apiReport({ args: files, options: { out } }: Given): Promise<Printed> {
  const reports = [...(await createApiReports(files))];
  if (out === undefined) return printed(reports.flatMap(([, text]) => linesOf(text.trimEnd())));
  return printed(reports.map(([name, text]) => write(join(out, name), text)));
}

/** Writes the same text to a file or to the standard output. */
async function uses(given: Given): Promise<Printed> {
  const { consumer, documents, ignoreDirective, output, ...options } = given.options;
  const context = { others: [], readInput: given.readInput, headers: headersOf(given) };
  const schema = await readSources(options.schema, { ...context, isGraphql: true });
  const events = await readSources(options.events, { ...context, isGraphql: false });
  const { uses: found, notice } = usesOf(consumer, schema, documents, events, ignoreDirective);
  const lines = jsonLines(found);
  return { ...printed(output === undefined ? lines : [write(output, printedLines(lines))]), notice };
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

function rendered({ options, version, environment }: Given, outcome: Outcome): Printed {
  const lines = renderers[options.format](outcome, version, environment.GITHUB_WORKSPACE);
  return { lines, exitCode: outcome.passed ? 0 : 1 };
}

function printed(lines: readonly Line[]): Printed {
  return { exitCode: 0, lines };
}

function ownVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return version;
}
