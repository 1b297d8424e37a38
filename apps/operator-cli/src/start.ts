import { runOperator } from './run-operator.ts';

const { env, stdin, stdout, stderr } = process;
// Without a listener, Node prints a stack when the reader of the output has gone.
stdout.on('error', ({ message }) => {
  stderr.write(`error: The result cannot be written: ${message}\n`);
  process.exit(1);
});
process.exitCode = await runOperator({ env, stdin, stdout, stderr }, process.argv.slice(2));
