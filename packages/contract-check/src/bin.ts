#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { linesOf, printedLines } from './cli/printed-line.ts';
import { unsupportedNode } from './cli/supported-node.ts';

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // The reader has all that it wants, for example `head`. SIGPIPE, which Node ignores, ends other programs with this code.
  if (code === 'EPIPE') process.exit(141);
  process.stderr.write(`contract-check: the output cannot be written: ${message}\n`);
  process.exit(2);
});

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
    const description = error instanceof Error ? error.stack : error;
    process.stderr.write(printedLines(linesOf(`contract-check: internal error: ${String(description)}`)));
    process.exitCode = 2;
  }
} else {
  process.stderr.write(`contract-check: ${problem}\n`);
  process.exitCode = 2;
}
