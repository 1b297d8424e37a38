#!/usr/bin/env node
import { run, UsageError } from './command-line.ts';

try {
  process.stdout.write(await run(process.argv.slice(2), process.env));
} catch (error) {
  process.stderr.write(`deedwire-webhook-receiver: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
