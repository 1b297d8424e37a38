#!/usr/bin/env node
import { runOperator } from './run-operator.ts';

const { env, stdout, stderr } = process;
process.exitCode = await runOperator({ env, stdout, stderr }, process.argv.slice(2));
