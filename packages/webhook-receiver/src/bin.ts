#!/usr/bin/env node
import { main } from './command-line.ts';

// Without a listener, Node prints a stack when the reader of the output has gone.
process.stdout.on('error', ({ message }) => {
  process.stderr.write(`deedwire-webhook-receiver: the output cannot be written: ${message}\n`);
  process.exit(1);
});
process.stderr.on('error', () => process.exit(1));

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  // The second signal ends the process at once.
  process.once(signal, () => interruption.abort());

const { env } = process;
process.exitCode = await main(process.argv.slice(2), {
  env,
  stdin: process.stdin,
  hasColors: process.stdout.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
  signal: interruption.signal,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
// What was interrupted may hold connections, and so may a proxy that does not respond.
if (interruption.signal.aborted) process.exit();
// An error of standard output ends the process above.
process.stdout.write('', (error) => error ?? process.stderr.write('', () => process.exit()));
