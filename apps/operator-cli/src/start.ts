import { runOperator } from './run-operator.ts';

const { env, stdin, stdout, stderr } = process;
stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // The reader has all that it wants, for example `head`. SIGPIPE, which Node ignores, ends other programs with this code.
  if (code === 'EPIPE') process.exit(141);
  stderr.write(`error: The result cannot be written: ${message}\n`);
  process.exit(1);
});
process.exitCode = await runOperator({ env, stdin, stdout, stderr }, process.argv.slice(2));
