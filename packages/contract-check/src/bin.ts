#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { unsupportedNode } from './cli/supported-node.ts';

const problem = unsupportedNode(process.versions.node);
if (problem === null) {
  try {
    // Loaded only now, because an older Node may not be able to load it.
    const { run } = await import('./cli/run.ts');
    const { exitCode, stdout, stderr } = await run(process.argv.slice(2), () => readFileSync(0), process.env);
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    process.exitCode = exitCode;
  } catch (error) {
    // Exit code 1 would state that the check failed.
    process.stderr.write(`contract-check: internal error: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 2;
  }
} else {
  process.stderr.write(`contract-check: ${problem}\n`);
  process.exitCode = 2;
}
