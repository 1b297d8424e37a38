import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findFreePort } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { onTestFinished } from 'vitest';
import { type InstalledPackages, installPackages } from './installed-packages.ts';
import { findNode20 } from './node-20.ts';
import { workspaceRoot } from './workspace-copy.ts';

const node20 = await findNode20();
if (node20 === null) process.stdout.write('contract-tests: no Node 20 on the PATH, the command runs on another one\n');
export const node = node20 ?? process.execPath;

export const examples = join(workspaceRoot, 'examples');

/** The published receiver kit, with the frameworks of the examples as the workspace has installed them. */
export async function installReceiverKit(): Promise<InstalledPackages> {
  const names = ['webhook-receiver', 'webhook-events', 'webhook-signing'].map((name) => `@deedwire/${name}`);
  const project = await installPackages(names, []);
  mkdirSync(join(project.folder, 'node_modules/@hono'));
  for (const name of ['@hono/node-server', 'express', 'fastify', 'hono']) {
    const installed = join(workspaceRoot, 'packages/webhook-receiver/node_modules', name);
    symlinkSync(installed, join(project.folder, 'node_modules', name), 'dir');
  }
  return project;
}

export const environment = (more: Record<string, string>) => ({
  ...process.env,
  PATH: `${dirname(node)}:${process.env['PATH']}`,
  ...more,
});

/** The commands of the README call it with npx, which takes a second of CPU time. */
export const commandOf = ({ folder }: InstalledPackages): string =>
  join(folder, 'node_modules/@deedwire/webhook-receiver/dist/bin.js');

/** A receiver, and how to count what it processed. */
export interface GradedReceiver {
  start: readonly string[];
  folder: string;
  /** Variables of its environment. */
  variables?: Record<string, string>;
  /** Gets what the receiver prints. */
  log: string;
  count: readonly string[];
}

/** Grades a receiver that a command starts, with the installed command on Node 20. */
export async function gradeOf(project: InstalledPackages, { start, folder, log, count, ...receiver }: GradedReceiver) {
  const secret = generateWebhookSecret();
  const port = String(await findFreePort());
  const env = environment({ WEBHOOK_SECRET: secret, PORT: port, ...receiver.variables });
  const [program = '', ...args] = start;
  const started = spawn(program, args, { cwd: folder, env });
  onTestFinished(() => void started.kill());
  for (const output of [started.stdout, started.stderr]) output.on('data', (chunk) => appendFileSync(log, chunk));
  await eventually(() => connectTo(Number(port)));
  const child = spawn(node, [commandOf(project), 'grade', `${port}/webhooks`, '--', ...count], {
    cwd: project.folder,
    env,
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { exitCode, stderr, others: stdout.match(/^[^✓-].*/gm) };
}

/** The grade of a receiver that passes every check. It has one secret. */
export const passed = { exitCode: 0, stderr: '', others: ['22 passed, 1 skipped'] };

async function connectTo(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}
