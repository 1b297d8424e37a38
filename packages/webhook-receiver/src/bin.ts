#!/usr/bin/env node
import { run, UsageError } from './command-line.ts';

try {
  process.stdout.write(await run(process.argv.slice(2), process.env));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`deedwire-webhook-receiver: ${error.message}\n`);
  process.exitCode = 2;
}
