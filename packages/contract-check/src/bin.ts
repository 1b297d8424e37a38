#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { run } from './cli/run.ts';

try {
  const { exitCode, stdout, stderr } = await run(process.argv.slice(2), () => readFileSync(0), process.env);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = exitCode;
} catch (error) {
  // Exit code 1 would state that the check failed.
  process.stderr.write(`contract-check: internal error: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 2;
}
