import { setTimeout as sleep } from 'node:timers/promises';
import { freezeServer, withClient } from '@deedwire/embedded-postgres';
import { missing } from '@deedwire/testing';
import { expect } from 'vitest';
import type { CellServer } from './cell-servers.ts';
import { startOperator } from './operator-process.ts';
import { leaseMs, type OracleSystem, type Side } from './oracle-system.ts';

export const steps = ['prepare', 'freeze', 'wait', 'promote', 'activate'] as const;
export type Step = (typeof steps)[number];

/**
 * `primary` is that of the old side, `standby` becomes the new side, `twin` remains a standby of the old side, `link` is what leads
 * from the operator, the standby and the proxy to the old side.
 */
export const victims = ['operator', 'worker', 'api', 'primary', 'standby', 'twin', 'proxy', 'link'] as const;
export type Victim = (typeof victims)[number];
type Process = Exclude<Victim, 'operator'>;
/** What can be suspended. A link is cut, and healed. */
export const processes = victims.filter((victim): victim is Process => victim !== 'operator');

/** The steps of a split, while processes are killed, started again as a supervisor does, and suspended. */
export interface DisturbedSteps {
  /** Takes a step, again and again until it is taken, while something is killed once. Returns what it printed. */
  take(step: Step | 'abort', commands: readonly string[], victim: Victim): Promise<string>;
  /** Suspends something for a while, a worker for longer than its lease or not. */
  suspend(what: Process): Promise<void>;
  /** Resolves when all that was killed or suspended runs again. */
  untilRecovered(): Promise<void>;
}

export interface DisturbedStepsOptions {
  system: OracleSystem;
  old: Side;
  next: Side;
  /** The organizations that leave, one in a line. */
  list: string;
  random: () => number;
  /** Called for each kill, and for each refusal of a command. */
  onKill: (step: Step | 'abort', victim: Victim) => void;
  onRefusal: (message: string) => void;
}

// Guards against hanging only.
const stepWithinMs = 120_000;
const appOf = { worker: 'webhook-worker', api: 'customer-api' } as const;

/** What a command may say while something that it needs is not available. */
const unavailable = [
  /not available/,
  /^error: The standby (?:does not stream|is [\d.]+ MB behind)/,
  /^error: These standbys of the old side do not stream/,
  /^error: A failover could forget/,
  /^error: The new side has not replayed the freeze/,
  /^error: Nothing is frozen, because/,
  /^error: What leaves may stay frozen/,
  // The session of a command that was killed.
  /^error: Another operator works on a split/,
  /the session of another command has not ended there/,
];

export const operatorEnv = (url: string, next = ''): Record<string, string> => ({
  DATABASE_URL: url,
  DATABASE_DIRECT_URL: '',
  NEW_CELL_DATABASE_URL: next,
  OPERATOR_NAME: 'oracle',
  AUDIT_RETENTION_DAYS: '365',
});

export function disturbSteps(options: DisturbedStepsOptions): DisturbedSteps {
  const { system, old, next, list, random, onKill, onRefusal } = options;
  const env = operatorEnv(old.url, next.server.url);
  const servers = { primary: old.server, standby: next.server, twin: old.twin ?? missing() };
  let recovering: Promise<unknown>[] = [];
  const recover = (afterMs: number, work: () => unknown): void => {
    const recovery = sleep(afterMs).then(work);
    // `untilRecovered` reports the error.
    recovery.catch(() => {});
    recovering.push(recovery);
  };

  async function kill(victim: Process): Promise<void> {
    if (victim === 'worker' || victim === 'api') {
      old.apps?.signal(appOf[victim], 'SIGKILL');
      return;
    }
    if (victim === 'link') {
      await suspend(victim);
      return;
    }
    const killed = victim === 'proxy' ? system.proxy : servers[victim];
    await killed.kill();
    recover(random() * 1_000, () => killed.start());
  }

  async function suspend(what: Process): Promise<void> {
    let proceed: () => void;
    if (what === 'worker' || what === 'api') {
      // The first worker can be killed meanwhile.
      const place = what === 'worker' ? 1 : 0;
      old.apps?.signal(appOf[what], 'SIGSTOP', place);
      proceed = () => old.apps?.signal(appOf[what], 'SIGCONT', place);
    } else if (what === 'proxy') {
      system.proxy.signal('SIGSTOP');
      proceed = () => system.proxy.signal('SIGCONT');
    } else if (what === 'link') {
      old.link.cut();
      proceed = () => old.link.heal();
    } else proceed = await freezeServer(servers[what].url);
    recover(500 + random() * (what === 'worker' ? 1.3 * leaseMs : 6_000), proceed);
  }

  async function take(step: Step | 'abort', commands: readonly string[], victim: Victim): Promise<string> {
    const deadlineMs = performance.now() + stepWithinMs;
    const moments = victim === 'operator' ? (['during'] as const) : (['before', 'during', 'after'] as const);
    const moment = moments[Math.floor(random() * moments.length)] ?? missing();
    let isKilled = false;
    const killOnce = async (): Promise<void> => {
      if (victim !== 'operator') await kill(victim);
      isKilled = true;
      onKill(step, victim);
    };
    if (moment === 'before') await killOnce();
    for (;;) {
      const operator = startOperator(['cell', 'split', ...commands], env, list);
      if (moment === 'during' && !isKilled) {
        await untilOperating(old.server, operator.child);
        await sleep(random() * 100);
        // A command that has ended is not killed.
        if (victim !== 'operator' || operator.child.kill('SIGKILL')) await killOnce();
      }
      const { exitCode, stdout, stderr } = await operator.ended;
      if (exitCode === 0) {
        if (moment === 'after') await killOnce();
        return stdout;
      }
      if (exitCode !== null) {
        // One error each.
        expect(stderr.trim()).not.toContain('\n');
        expect(unavailable.some((pattern) => pattern.test(stderr)) ? '' : stderr).toBe('');
        onRefusal(stderr.trim());
      }
      if (performance.now() > deadlineMs) throw new Error(`${step} was not taken: ${stderr}`);
      await sleep(200);
    }
  }

  return {
    take,
    suspend,
    async untilRecovered() {
      await Promise.all(recovering);
      recovering = [];
    },
  };
}

/** Resolves when a command works with a database, or after some time. */
async function untilOperating(server: CellServer, command: { exitCode: number | null }): Promise<void> {
  const deadlineMs = performance.now() + 3_000;
  const isOver = (): boolean => command.exitCode !== null || performance.now() > deadlineMs;
  const watch = (): Promise<boolean> =>
    withClient(server.url, async (client) => {
      const sessions = `select from pg_stat_activity where application_name = 'deedwire-split'`;
      while (!isOver() && (await client.query(sessions)).rowCount === 0) await sleep(5);
      return true;
    });
  // The server can be the one that was killed.
  while (!isOver() && !(await watch().catch(() => false))) await sleep(20);
}
