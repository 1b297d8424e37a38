#!/usr/bin/env node
import { run } from './cli/run.ts';

const { exitCode, stdout, stderr } = run(process.argv.slice(2));
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exitCode;
