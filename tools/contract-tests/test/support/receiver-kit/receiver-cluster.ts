import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AppEnd } from '@deedwire/dev-environment';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';

/** A receiver of several processes, as `node:cluster` runs them, with one database. */
export interface ReceiverCluster {
  /** The callback URL. */
  url: string;
  /** Sends a signal to one of the processes, and resolves when it has ended and another one has taken its place. */
  replaceOne(signal: NodeJS.Signals): Promise<AppEnd>;
  close(): Promise<void>;
}

export type ClusterMessage =
  | { readonly kind: 'listening'; readonly pid: number; readonly port: number }
  | ({ readonly kind: 'ended'; readonly pid: number } & AppEnd);

const processes = 3;
// Guards against hanging only.
const startTimeoutMs = 240_000;

export async function startReceiverCluster(databaseUrl: string, secret: string): Promise<ReceiverCluster> {
  const child = fork(new URL('receiver-process.ts', import.meta.url), [databaseUrl, secret, String(processes)], {
    execArgv: ['--conditions=deedwire-source'],
  });
  const listening = new Map<number, number>();
  const ends = new Map<number, AppEnd>();
  child.on('message', (message: ClusterMessage) => {
    if (message.kind === 'listening') {
      listening.set(message.pid, message.port);
      return;
    }
    const { pid, exitCode, signal } = message;
    listening.delete(pid);
    ends.set(pid, { exitCode, signal });
  });
  const untilComplete = () => eventually(() => expect(listening.size).toBe(processes), startTimeoutMs);
  await untilComplete();
  const [port] = listening.values();
  return {
    url: `http://127.0.0.1:${port}/`,
    async replaceOne(signal) {
      const pids = [...listening.keys()];
      const pid = pids[Math.floor(Math.random() * pids.length)] ?? 0;
      process.kill(pid, signal);
      const end = await eventually(() => ends.get(pid) ?? Promise.reject(new Error(`${pid} runs.`)), startTimeoutMs);
      await untilComplete();
      return end;
    },
    async close() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
