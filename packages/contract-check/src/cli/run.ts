import { readFileSync } from 'node:fs';
import type { Report } from '../change.ts';
import { compareGraphql } from '../graphql/compare-graphql.ts';
import { InputError } from '../input-error.ts';
import { compareJsonSchemas } from '../json-schema/compare-json-schema.ts';
import { compareManifests } from '../manifest/compare-manifests.ts';
import { readSourceText } from '../text-file.ts';
import { compareVerdicts } from '../verdict.ts';
import { checkWorkspace } from '../workspace/check-workspace.ts';
import { helpOf } from './help.ts';
import { readInvocation, type Invocation } from './options.ts';
import { packageNameOf } from './package-name.ts';
import { renderReport } from './render-report.ts';
import { renderWorkspace } from './render-workspace.ts';
import { UsageError } from './usage-error.ts';

export interface RunResult {
  /** 0: passed. 1: failed. 2: invalid usage or invalid input. */
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line without the program name. */
export function run(args: readonly string[]): RunResult {
  try {
    return invoke(readInvocation(args));
  } catch (error) {
    if (error instanceof UsageError) {
      return { exitCode: 2, stdout: '', stderr: `contract-check: ${error.message}\n\n${helpOf(error.command)}` };
    }
    if (error instanceof InputError) return { exitCode: 2, stdout: '', stderr: `${error.message}\n` };
    throw error;
  }
}

type Comparison = Extract<Invocation, { readonly from: string }>;

function invoke(invocation: Invocation): RunResult {
  if (invocation.command === 'help') return printed(0, helpOf(invocation.of).trimEnd());
  if (invocation.command === 'version') return printed(0, ownVersion());
  if (invocation.command === 'workspace') return checkAll(invocation);
  const { declared, format, to } = invocation;
  const report = compareFiles(invocation);
  const text = format === 'json' ? toJson(report) : renderReport(report, declared, packageNameOf(to));
  return printed(declared !== null && compareVerdicts(declared, report.verdict) < 0 ? 1 : 0, text);
}

function compareFiles(invocation: Comparison): Report {
  const [from, to] = [readSourceText(invocation.from), readSourceText(invocation.to)];
  if (invocation.command === 'graphql') return compareGraphql(from, to, invocation);
  if (invocation.command === 'json-schema') return compareJsonSchemas(from, to, invocation);
  return compareManifests(from, to);
}

function checkAll({
  root,
  baselines,
  today,
  format,
}: Extract<Invocation, { readonly command: 'workspace' }>): RunResult {
  const report = checkWorkspace({ root, baselines, ...(today === null ? {} : { today }) });
  const failed =
    report.packages.some(({ problems }) => problems.length > 0) ||
    report.exceptions.some(({ status }) => status === 'expired');
  return printed(failed ? 1 : 0, format === 'json' ? toJson(report) : renderWorkspace(report));
}

function printed(exitCode: 0 | 1, text: string): RunResult {
  return { exitCode, stdout: `${text}\n`, stderr: '' };
}

function toJson(value: object): string {
  return JSON.stringify(value, null, 2);
}

function ownVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return version;
}
