import { help } from './cli/help.ts';
import { hideSecrets } from './cli/input.ts';
import { CommandError, type Shell, UsageError } from './cli/shell.ts';
import { wrap } from './cli/text.ts';
import { messageOf } from './field.ts';

type Command = (args: readonly string[], shell: Shell) => Promise<number>;

/** Loaded when they are called: none waits for what another one imports. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  grade: async () => (await import('./cli/grade.ts')).grade,
  trigger: async () => (await import('./cli/trigger.ts')).trigger,
  listen: async () => (await import('./cli/listen.ts')).listen,
  subscribe: async () => (await import('./cli/subscribe.ts')).subscribe,
  doctor: async () => (await import('./cli/doctor.ts')).doctor,
  secret: async () => (await import('./cli/secret.ts')).secret,
  verify: async () => (await import('./cli/verify.ts')).verify,
  sql: async () => (await import('./cli/sql-command.ts')).sqlCommand,
  'move-inbox': async () => (await import('./cli/move-inbox-command.ts')).moveInboxCommand,
};

/**
 * Resolves with the exit code.
 *
 * @throws {CommandError} with its exit code
 * @throws {Error} if the command failed, with one line about the cause
 */
export async function run(args: readonly string[], shell: Shell): Promise<number> {
  const [name = '--help', ...rest] = args;
  const end = args.indexOf('--');
  if (
    args.slice(0, end === -1 ? undefined : end).some((arg) => arg === '--help' || arg === '-h') ||
    name === '--help'
  ) {
    shell.out(help);
    return 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) throw new UsageError(`there is no command "${name}". --help lists them.`);
  return (await load())(rest, shell);
}

/** Runs a command, and reports why it failed. Never rejects. */
export async function main(args: readonly string[], surroundings: Omit<Shell, 'hidden'>): Promise<number> {
  const hidden = new Set<string>();
  hideSecrets(hidden, surroundings.env);
  const shell: Shell = {
    ...surroundings,
    hidden,
    out: (text) => surroundings.out(args[0] === 'secret' ? text : withoutSecrets(text, hidden)),
    err: (text) => surroundings.err(withoutSecrets(text, hidden)),
  };
  const interrupted = new Promise<never>((_, reject) => {
    // `listen` ends in its own way.
    if (args[0] !== 'listen') shell.signal.addEventListener('abort', () => reject(new Error('interrupted')));
  });
  try {
    return await Promise.race([run(args, shell), interrupted]);
  } catch (error) {
    if (shell.signal.aborted) {
      shell.err('deedwire-webhook-receiver: interrupted.\n');
      return 130;
    }
    // A line break could split a secret with spaces.
    shell.err(wrap(withoutSecrets(`deedwire-webhook-receiver: ${messageOf(error)}`, hidden), '  ', ''));
    return error instanceof CommandError ? error.exitCode : 1;
  }
}

/** A message may quote an argument, a file or a response. */
function withoutSecrets(text: string, hidden: ReadonlySet<string>): string {
  let shown = text;
  for (const value of hidden) {
    if (value.length <= 7) continue;
    shown = shown.replaceAll(value, '…');
    // Also its beginning, where an excerpt ends.
    for (let length = value.length - 1; text.includes('…') && length > 3; length -= 1)
      shown = shown.replaceAll(`${value.slice(0, length)}…`, '…');
  }
  return shown.replaceAll(/whsec_[\w+/=-]+/g, 'whsec_…');
}
