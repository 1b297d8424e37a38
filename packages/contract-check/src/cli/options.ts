import { parseArgs, type ParseArgsConfig } from 'node:util';
import { directions, type Direction } from '../json-schema/direction.ts';
import { isVerdict, verdicts, type Verdict } from '../verdict.ts';
import { isDay } from '../workspace/days.ts';
import { UsageError } from './usage-error.ts';

export type Format = 'text' | 'json';

interface Comparing {
  readonly from: string;
  readonly to: string;
  /** Null when every verdict passes. */
  readonly declared: Verdict | null;
  readonly format: Format;
}

export type Invocation =
  | { readonly command: 'help'; readonly of: string | null }
  | { readonly command: 'version' }
  | (Comparing & {
      readonly command: 'graphql';
      readonly closedOutputs: boolean;
      readonly directives: Readonly<Record<string, Verdict>>;
    })
  | (Comparing & { readonly command: 'json-schema'; readonly direction: Direction; readonly closedOutputs: boolean })
  | (Comparing & { readonly command: 'manifest' })
  | {
      readonly command: 'workspace';
      readonly root: string;
      readonly baselines: readonly string[];
      /** Null for the current day. */
      readonly today: string | null;
      readonly format: Format;
    };

type Command = 'graphql' | 'json-schema' | 'manifest' | 'workspace';

const string = { type: 'string' } as const;
const list = { type: 'string', multiple: true } as const;
const flag = { type: 'boolean' } as const;
const comparing = { help: flag, from: string, to: string, declared: string, format: string } as const;

const optionsOf: Readonly<Record<Command, NonNullable<ParseArgsConfig['options']>>> = {
  graphql: { ...comparing, 'closed-outputs': flag, directive: list },
  'json-schema': { ...comparing, 'closed-outputs': flag, direction: string },
  manifest: comparing,
  workspace: { help: flag, root: string, baseline: list, today: string, format: string },
};

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/**
 * Parses a command line without the program name.
 *
 * @throws {UsageError} when the command line is invalid.
 */
export function readInvocation(args: readonly string[]): Invocation {
  const [command, ...rest] = args;
  if (command === undefined) throw new UsageError(null, 'no command given');
  if (command === '--help' || command === '-h' || command === 'help') return { command: 'help', of: rest[0] ?? null };
  if (command === '--version') return { command: 'version' };
  if (!isCommand(command)) throw new UsageError(null, `unknown command ${JSON.stringify(command)}`);
  const values = parse(command, rest);
  if (values['help'] === true) return { command: 'help', of: command };
  const reader = new OptionReader(command, values);
  const format = reader.oneOf('format', ['text', 'json'] as const, 'text');
  if (command === 'workspace') {
    const root = reader.text('root') ?? '.';
    return { command, root, baselines: reader.texts('baseline'), today: reader.day('today'), format };
  }
  const compared = {
    from: reader.required('from'),
    to: reader.required('to'),
    declared: reader.verdict('declared'),
    format,
  };
  if (command === 'manifest') return { command, ...compared };
  const closedOutputs = values['closed-outputs'] === true;
  if (command === 'graphql') return { command, ...compared, closedOutputs, directives: reader.directives() };
  const direction = reader.oneOf('direction', directions, null);
  return { command, ...compared, closedOutputs, direction };
}

function isCommand(name: string): name is Command {
  return Object.hasOwn(optionsOf, name);
}

function parse(command: Command, args: readonly string[]): Values {
  try {
    return parseArgs({ args: [...args], options: optionsOf[command], strict: true, allowPositionals: false }).values;
  } catch (error) {
    // Only the first sentence: Node continues with how to pass a positional argument that starts with a dash.
    const message = error instanceof Error ? (error.message.split('. ', 1)[0] ?? '') : String(error);
    throw new UsageError(command, message);
  }
}

/** `a, b or c`. */
function listOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

class OptionReader {
  readonly #command: string;
  readonly #values: Values;

  constructor(command: string, values: Values) {
    this.#command = command;
    this.#values = values;
  }

  text(name: string): string | null {
    const value = this.#values[name];
    return typeof value === 'string' ? value : null;
  }

  texts(name: string): string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  }

  required(name: string): string {
    return this.text(name) ?? this.#fail(`--${name} is required`);
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T | null): T {
    const value = this.text(name);
    if (value === null && fallback !== null) return fallback;
    const found = allowed.find((each) => each === value);
    if (found !== undefined) return found;
    return this.#fail(
      value === null ? `--${name} is required` : `--${name} must be ${listOf(allowed)}, not ${JSON.stringify(value)}`,
    );
  }

  verdict(name: string): Verdict | null {
    const value = this.text(name);
    if (value === null || isVerdict(value)) return value;
    return this.#fail(`--${name} must be ${listOf(verdicts)}, not ${JSON.stringify(value)}`);
  }

  day(name: string): string | null {
    const value = this.text(name);
    if (value === null || isDay(value)) return value;
    return this.#fail(`--${name} must be YYYY-MM-DD, not ${JSON.stringify(value)}`);
  }

  directives(): Record<string, Verdict> {
    const entries = this.texts('directive').map((text) => {
      const [, name, verdict] = /^@?(\w+)=(\w+)$/.exec(text) ?? [];
      if (name === undefined || !isVerdict(verdict)) {
        return this.#fail(`--directive must be NAME=VERDICT, not ${JSON.stringify(text)}`);
      }
      return [name, verdict] as const;
    });
    return Object.fromEntries(entries);
  }

  #fail(problem: string): never {
    throw new UsageError(this.#command, problem);
  }
}
