import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestSystem } from '@deedwire/dev-environment/harness';
import { eventually, meanRatio, postGraphql } from '@deedwire/testing';
import { expect } from 'vitest';
import { operatorStart } from './cells/operator-process.ts';
import { workspaceRoot } from './workspace-copy.ts';

const rounds = 10;
const shares = { p50: 0.5, p99: 0.99 };

export interface BesideOptions {
  system: TestSystem;
  env: Readonly<Record<string, string>>;
  /** The application name of the session that works. */
  session: string;
  /** How long the part of a round takes in which the command does not run. */
  beforeMs: number;
  /** Prepares a round. Resolves with the arguments of its command. */
  prepare: (round: number) => Promise<readonly string[]>;
}

/**
 * Compares the durations of an account's requests while a command of the operator runs with those before, in rounds that alternate,
 * because the machine does other work too.
 */
export async function compareRequestsBeside({ system, env, session, beforeMs, prepare }: BesideOptions) {
  const ratios: Record<keyof typeof shares, number[]> = { p50: [], p99: [] };
  for (let round = 0; round < rounds; round += 1) {
    const args = await prepare(round);
    const before = await requestsUntil(system, sleep(beforeMs));
    const startMs = performance.now();
    // In its own process: in this one, requests would wait for it. Its start needs CPU of the operator's machine only.
    const command = spawn(process.execPath, [...operatorStart, ...args], {
      cwd: workspaceRoot,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ending = once(command, 'exit');
    await eventually(async () =>
      expect(await system.sql('select from pg_stat_activity where application_name = $1', [session])).not.toEqual([]),
    );
    const during = await requestsUntil(system, ending);
    expect(await ending).toEqual([0, null]);
    for (const name of ['p50', 'p99'] as const) {
      const [a, b] = [before, during].map((durations) => quantile(durations, shares[name])) as [number, number];
      ratios[name].push(b / a);
      process.stdout.write(`${name}: ${a.toFixed(2)} ms before, ${b.toFixed(2)} ms during\n`);
    }
    process.stdout.write(`ended after ${Math.round(performance.now() - startMs)} ms\n`);
  }
  const compared = { p50: meanRatio(ratios.p50), p99: meanRatio(ratios.p99) };
  for (const [name, { mean, low, high }] of Object.entries(compared))
    process.stdout.write(`${name}: ratio ${mean.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})\n`);
  return compared;
}

/** The durations of the requests of `accounts.customer`, in milliseconds, until the work ends. */
async function requestsUntil({ urls, accounts }: TestSystem, work: Promise<unknown>): Promise<number[]> {
  const state = { isEnded: false };
  void work.finally(() => (state.isEnded = true));
  const durations: number[] = [];
  while (!state.isEnded) {
    const startMs = performance.now();
    const { body } = await postGraphql(urls.customer, accounts.customer.credential, {
      query: 'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { userErrors { code } } }',
      variables: { input: { item: 'Tea' } },
    });
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
    durations.push(performance.now() - startMs);
    await sleep(5);
  }
  return durations;
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
