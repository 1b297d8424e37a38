#!/usr/bin/env node
import { run, UsageError } from './command-line.ts';
import { messageOf } from './field.ts';

// Without a listener, Node prints a stack when the reader of the output has gone.
process.stdout.on('error', ({ message }) => {
  process.stderr.write(`deedwire-webhook-receiver: the output cannot be written: ${message}\n`);
  process.exit(1);
});
try {
  process.stdout.write(await run(process.argv.slice(2), process.env));
} catch (error) {
  process.stderr.write(`deedwire-webhook-receiver: ${messageOf(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
