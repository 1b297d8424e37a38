import { Option, type Command } from 'commander';
import type { Shell } from './shell.ts';

export interface OutputOptions {
  json?: true;
}

/** Adds a verb to a noun: `<noun> <verb> …`. */
export function addVerb(noun: Command, usage: string, description: string): Command {
  return noun.command(usage).description(description).option('--json', 'print JSON');
}

export function interfaceOption(): Option {
  return new Option('--interface <name>', 'the interface of the account')
    .choices(['lender', 'partner'])
    .makeOptionMandatory();
}

/** Prints a result as JSON if `--json` is set, otherwise as the text that `text` returns. */
export function print<Result>(
  { stdout }: Shell,
  { json }: OutputOptions,
  result: Result,
  text: (result: Result) => string,
): void {
  stdout.write(`${json ? JSON.stringify(result) : text(result)}\n`);
}
