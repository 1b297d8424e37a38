import { runOperator } from '@deedwire/operator';
import { build } from './build.ts';

const { env, stdin, stdout, stderr, argv } = process;
/** What it changes, it finishes, even if nothing reads its output. */
const isChange = argv.includes('--yes');
stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // The reader has all that it wants, for example `head`. SIGPIPE, which Node ignores, ends other programs with this code.
  if (code === 'EPIPE') process.exitCode ||= 141;
  else {
    stderr.write(`error: The result cannot be written: ${message}. If the command changes something, it has.\n`);
    process.exitCode ||= 1;
  }
  if (!isChange) process.exit();
});
stderr.on('error', () => {});
const load = async () => ({
  service: (await import('@deedwire/firm')).firm,
  commands: (await import('@deedwire/firm/commands')).firmCommands,
});
process.exitCode = (await runOperator(load, { env, stdin, stdout, stderr, build }, argv.slice(2))) || process.exitCode;
