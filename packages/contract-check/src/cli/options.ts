import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { directions, type Direction } from '../json-schema/direction.ts';
import { isVerdict, verdicts, type Verdict } from '../verdict.ts';
import { isDay } from '../workspace/version-status.ts';
import { renderers } from './formats.ts';

/** The command line is invalid. The message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  /** @param command the command whose help explains the usage. Null for the overview. */
  constructor(command: string | null, problem: string) {
    const name = command === null ? 'contract-check' : `contract-check ${command}`;
    super(`${name}: ${problem.replaceAll(/\s+/g, ' ')}. See ${name} --help.`);
  }
}

/** The options of all commands. Each command has those that its definition adds, and only these are set. */
export interface Options {
  /** Places. Only `graphql` accepts several. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** Name → the environment variable with the value. */
  readonly header: Readonly<Record<string, string>>;
  /** Undefined when every verdict passes, or the pending changesets declare the bumps. */
  readonly declared?: Verdict;
  readonly format: keyof typeof renderers;
  /** Undefined for `contract-check.json` in the current folder or the root. */
  readonly config?: string;
  readonly closedOutputs?: boolean;
  readonly directive: Readonly<Record<string, Verdict>>;
  readonly partial?: boolean;
  readonly direction: Direction;
  readonly root: string;
  /** Undefined for the target of the pull request. */
  readonly base?: string;
  readonly baseline: readonly string[];
  /** Undefined for the current day. */
  readonly today?: string;
  readonly write?: boolean;
  /** The folder for API reports. Undefined to print the only one. */
  readonly out?: string;
  readonly list?: boolean;
  /** Places of the files of one schema. */
  readonly schema: readonly string[];
  /** Patterns of files. */
  readonly documents: readonly string[];
  readonly ignoreDirective: readonly string[];
  /** Places of JSON Schemas. */
  readonly events: readonly string[];
  /** Of `uses`: the name. Of `can-i-deploy`: the file that it wrote. */
  readonly consumer: string;
  /** The file to write to. Undefined for the standard output. */
  readonly output?: string;
  readonly environment: readonly string[];
  readonly build: readonly string[];
  readonly rollback?: string;
  readonly name?: string;
  /** In milliseconds. */
  readonly maxAge: number;
  readonly maxGap: number;
  readonly unusedFor: number;
}

export type CommandName =
  | 'find'
  | 'graphql'
  | 'json-schema'
  | 'manifest'
  | 'workspace'
  | 'changelog'
  | 'api-report'
  | 'release'
  | 'uses'
  | 'can-i-deploy'
  | 'can-i-retire'
  | 'explain';

export interface CommandLine {
  readonly command: CommandName;
  readonly args: readonly string[];
  readonly options: Options;
}

const places = 'a file, a folder, a tarball, - (standard input), git:REF[:PATH], npm:NAME@RANGE[:PATH] or a URL';

const exitCodes = `
Exit codes:
  0  passed
  1  the declared bump is too small, a released version is broken, an exception expired, or the answer is no
  2  invalid usage or invalid input
  3  the answer is unknown
`;

const closedOutputs = new Option(
  '--closed-outputs',
  'treat values and types added to outputs as major: clients may handle only known ones',
);
const headerOption = new Option(
  '--header <name=variable>',
  'send a header to URLs, with the value of an environment variable; repeatable',
)
  .argParser(addHeader)
  .default({}, 'none');
const formatOption = new Option('--format <format>', 'how to print the result')
  .choices(Object.keys(renderers))
  .default('text');
const configOption = new Option('--config <file>', 'the configuration (default: contract-check.json, if it exists)');

/**
 * Parses a command line without the program name.
 *
 * @returns a text to print if the command line asks for help or the version
 * @throws {UsageError} when the command line is invalid.
 */
export function readInvocation(args: readonly string[], version: string): CommandLine | string {
  let printed = '';
  const program = new Command('contract-check')
    .description('Reports the version bump that a contract change needs, and fails if the declared bump is smaller.')
    .version(version, '--version', 'print the version')
    .addHelpText('after', exitCodes);
  let given: CommandLine | undefined;
  const add = (name: CommandName, description: string): Command => {
    const command = program.command(name).description(description);
    return command.action(() => {
      given = { command: name, args: command.args, options: command.opts<Options>() };
      check(given);
    });
  };

  add('find', 'list the schemas of a repository, and print the configuration that compares them (default)')
    .option('--root <folder>', 'the root of the repository', '.')
    .option('--write', 'write the configuration to contract-check.json instead');
  addComparing(
    add('graphql', 'compare two GraphQL schemas (SDL or introspection JSON)'),
    '; patterns match several files; repeatable',
  )
    .addOption(closedOutputs)
    .addOption(
      new Option('--directive <name=verdict>', 'set the verdict for changes of an applied directive; repeatable')
        .argParser(addDirective)
        .default({}, 'changes of @constraint and similar directives are compared, others are major'),
    )
    .option('--partial', 'the schemas are parts of a larger one, such as subgraphs; every type counts as reachable');
  addComparing(add('json-schema', 'compare two JSON Schemas in a direction'))
    .addOption(
      new Option(
        '--direction <direction>',
        'producer: you send what the schema describes; consumer: you accept it; both: the larger verdict (required)',
      ).choices(directions),
    )
    .addOption(closedOutputs);
  addComparing(add('manifest', 'compare two manifests: errors, headers, abilities, limits, page sizes, cost weights'));
  addWorkspace(
    add('workspace', 'compare every contract package with its latest release and its pending changesets'),
  ).addOption(formatOption);
  addWorkspace(add('changelog', 'print the changesets that the changes of a workspace need')).option(
    '--write',
    'write them to .changeset/ instead',
  );
  add('api-report', 'print the API report of a package, or write those of several entry points')
    .argument('<files...>', 'the declaration files of the entry points, for example dist/index.d.ts')
    .option('--out <folder>', 'write a report for each file to this folder instead, for example api');
  add('release', 'print what was last released of each package and where, and fail if its contracts changed since')
    .option('--root <folder>', 'the root of the workspace', '.')
    .addOption(configOption);
  add('uses', 'write what a consumer uses: the coordinates of its documents, and the events that it handles')
    .option('--consumer <name>', 'the name of the consumer (required)', parseConsumer)
    .option('--schema <place>', `the GraphQL schema of its documents: ${places}; repeatable`, addText, [])
    .option(
      '--documents <pattern>',
      'files with its operations and fragments, in quotes: GraphQL, templates in TypeScript or JavaScript, JSON manifests of persisted operations; repeatable',
      addText,
      [],
    )
    .option(
      '--ignore-directive <name>',
      'a directive that only the consumer or a gateway knows, besides those of Apollo Client, Relay, Houdini and urql; repeatable',
      addDirectiveName,
      [],
    )
    .option('--events <place>', 'the JSON Schemas of the events that it handles; repeatable', addText, [])
    .addOption(headerOption)
    .option('--output <file>', 'write to this file instead of the standard output');
  addAsking(add('can-i-deploy', 'answer whether builds or a consumer fit what runs in an environment'), '1h')
    .option('--build <file>', 'the dist/contracts.json of a build; repeatable', addText, [])
    .option('--consumer <file>', 'what a consumer uses: the output of contract-check uses')
    .option('--rollback <version>', 'also check that this version, or APP@VERSION, can be deployed again');
  addAsking(add('can-i-retire', 'answer whether a version is unused in an environment'), '24h').argument(
    '<version>',
    'customer@2026-11-01, or order.placed@2026-11-01',
  );
  add('explain', 'describe a rule with examples, or list all rules')
    .argument('[rule]', 'the id of the rule, for example graphql/fieldRemoved')
    .option('--list', 'list all rules with their verdicts (default)');

  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureHelp({ helpWidth: 110 });
    command.configureOutput({
      writeOut(text) {
        printed += text;
      },
      // The message of the error contains the same text.
      writeErr: () => {},
    });
  }
  try {
    program.parse(args.length === 0 ? ['find'] : args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return printed;
    const [name] = args;
    const isCommand = program.commands.some((command) => command.name() === name);
    throw new UsageError(isCommand ? (name ?? null) : null, error.message.replace(/^error: /, '').replace(/\.$/, ''));
  }
  return given ?? printed;
}

const required: Readonly<Partial<Record<CommandName, readonly string[]>>> = {
  graphql: ['from', 'to'],
  'json-schema': ['from', 'to', 'direction'],
  manifest: ['from', 'to'],
  uses: ['consumer'],
  'can-i-deploy': ['environment'],
  'can-i-retire': ['environment'],
};

/** Checked after parsing: commander would report a missing option before the unknown one that was meant for it. */
function check({ command, args, options }: CommandLine): void {
  for (const name of required[command] ?? [])
    if (!Object.hasOwn(options, name)) throw new UsageError(command, `--${name} is required`);
  if (command === 'api-report' && args.length > 1 && options.out === undefined)
    throw new UsageError(command, 'name the folder for the reports of several files, for example --out api');
  if (command === 'uses') checkUses(options);
  if (command === 'can-i-deploy' && options.build.length > 0 === Object.hasOwn(options, 'consumer'))
    throw new UsageError(command, 'pass --build or --consumer');
  if (command === 'can-i-retire' && !/^[^@\s]+@[^@\s]+$/.test(args.join(' ')))
    throw new UsageError(command, 'name a version, for example customer@2026-11-01');
  if (command === 'explain' && args.length > 0 && options.list === true)
    throw new UsageError(command, 'pass a rule or --list, not both');
}

function checkUses({ schema, documents, events }: Options): void {
  if (schema.length === 0 && documents.length > 0) throw new UsageError('uses', '--documents needs --schema');
  if (schema.length > 0 && documents.length === 0) throw new UsageError('uses', '--schema needs --documents');
  if (schema.length + events.length === 0)
    throw new UsageError('uses', 'pass --schema and --documents, --events, or all');
  if ([...schema, ...events].filter((place) => place === '-').length > 1)
    throw new UsageError('uses', 'only one of --schema and --events can be -');
}

function addAsking(command: Command, maxAge: string): Command {
  return command
    .option('--environment <file>', 'the file of deedwire-operator environment export (required); repeatable', addText)
    .option('--name <environment>', 'the name that the environment must have')
    .addOption(duration('--max-age', 'the age above which the file is no evidence', maxAge))
    .addOption(duration('--max-gap', 'how long an app may not have counted its use on a UTC day', '10m'))
    .addOption(duration('--unused-for', 'how long a version must be unused and deprecated', '90d'))
    .option('--root <folder>', 'the folder of contract-exceptions.json', '.')
    .option('--base <ref>', 'the branch in which an exception must be (default: as for workspace)')
    .option('--today <day>', 'the day on which exceptions must hold, YYYY-MM-DD', parseDay)
    .addOption(new Option('--format <format>', 'how to print the answer').choices(['text', 'json']).default('text'));
}

function duration(name: string, description: string, otherwise: string): Option {
  const option = new Option(`${name} <duration>`, description).argParser(parseDuration);
  return option.default(parseDuration(otherwise), otherwise);
}

function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,4})([smhd]?)$/.exec(text) ?? [];
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? (count === '0' ? 0 : Number.NaN);
  if (Number.isNaN(Number(count) * seconds))
    throw new InvalidArgumentError('It must be a duration: 30s, 10m, 24h, 90d.');
  return Number(count) * seconds * 1000;
}

/** A required option has no default list, so that it can be missing. */
function addText(text: string, list: readonly string[] = []): readonly string[] {
  return [...list, text];
}

function addDirectiveName(text: string, list: readonly string[]): readonly string[] {
  const [, name] = /^@?(\w+)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('It must be the name of a directive.');
  return [...list, name];
}

function parseConsumer(name: string): string {
  if (/^[\w@./-]{1,100}$/.test(name)) return name;
  throw new InvalidArgumentError('It must be a name of at most 100 letters, digits and @ . / _ -');
}

/** @param several what is different if the command accepts several places */
function addComparing(command: Command, several = ''): Command {
  const addPlace = (place: string, list: readonly string[] = []): readonly string[] => {
    if (several === '' && list.length > 0) throw new InvalidArgumentError('The command accepts it once.');
    return addText(place, list);
  };
  return command
    .option('--from <place>', `the old version (required): ${places}${several}`, addPlace)
    .option('--to <place>', `the new version (required)${several}`, addPlace)
    .addOption(headerOption)
    .addOption(
      new Option('--declared <bump>', 'the declared bump; exit 1 if the changes need a larger one').choices(verdicts),
    )
    .addOption(formatOption)
    .addOption(configOption);
}

function addWorkspace(command: Command): Command {
  return command
    .option('--root <folder>', 'the root of the workspace', '.')
    .option(
      '--base <ref>',
      'the branch into which the changes will be merged (default: the target of the pull request in a GitHub workflow, else origin/HEAD, else HEAD)',
    )
    .option(
      '--baseline <place>',
      'compare with a folder, a tarball (npm pack), git:REF, npm:NAME@RANGE or the URL of a GraphQL server instead of the latest release; repeatable',
      addText,
      [],
    )
    .addOption(
      new Option('--declared <bump>', 'the bump of every package, instead of the pending changesets').choices(verdicts),
    )
    .option('--today <day>', 'the day of the release, YYYY-MM-DD, for the dates in versions.json', parseDay)
    .addOption(configOption);
}

function parseDay(value: string): string {
  if (isDay(value)) return value;
  throw new InvalidArgumentError('It must be YYYY-MM-DD.');
}

function addHeader(text: string, headers: Readonly<Record<string, string>>): Record<string, string> {
  const [, name, variable] = /^([\w-]+)=(\w+)$/.exec(text) ?? [];
  if (name !== undefined && variable !== undefined) return { ...headers, [name]: variable };
  // A value on the command line is visible to other processes.
  throw new InvalidArgumentError('It must be NAME=VARIABLE, where the environment variable contains the value.');
}

function addDirective(text: string, directives: Readonly<Record<string, Verdict>>): Record<string, Verdict> {
  const [, name, verdict] = /^@?(\w+)=(\w+)$/.exec(text) ?? [];
  if (name !== undefined && isVerdict(verdict)) return { ...directives, [name]: verdict };
  throw new InvalidArgumentError(`It must be NAME=VERDICT, where the verdict is ${verdicts.join(', ')}.`);
}
