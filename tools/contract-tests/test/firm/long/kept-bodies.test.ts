import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '@deedwire/embedded-postgres';
import { signWebhook } from '@deedwire/webhook-signing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type InstalledPackages, installPackages } from '../../support/installed-packages.ts';

const timeout = 600_000;
const secret = 'whsec_b2xkIHNlY3JldCBvZiBhIHRlc3QgMDEyMzQ1Njc4OTA=';
const kit = ['@deedwire/webhook-events', '@deedwire/webhook-receiver', '@deedwire/webhook-signing'];
// The README names these releases. They are not in the lockfile: they install 160 packages.
const frameworks = [
  '@google-cloud/functions-framework@5.0.5',
  '@nestjs/common@12.5.1',
  '@nestjs/core@12.5.1',
  '@nestjs/platform-express@12.5.1',
  '@nestjs/platform-fastify@12.5.0',
  'reflect-metadata@0.2.2',
  'rxjs@7.8.2',
];

const receiver = `
import * as events from '@deedwire/webhook-events';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';

export const receiver = createWebhookReceiver({
  events,
  prefix: 'X-Service',
  secrets: ['${secret}'],
  store: memoryStore(),
  on: { 'lender.updated': { '2026-11-01': () => {} } },
});
`;

/** What Firebase and Cloud Functions run. */
const firebase = `
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { receiver } from './receiver.js';

export const webhook = nodeHandler(receiver);
`;

/** Without decorators, which Node does not run. */
const nest = `
import 'reflect-metadata';
import { expressHandler } from '@deedwire/webhook-receiver/express';
import { fastifyHandler } from '@deedwire/webhook-receiver/fastify';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Controller, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { receiver } from './receiver.js';

const [, , bodies, platform] = process.argv;
const handle = platform === 'fastify' ? fastifyHandler(receiver) : expressHandler(receiver);
class Webhooks {
  receive(request, response) {
    return handle(request, response);
  }
}
const { prototype } = Webhooks;
const types = Reflect.metadata('design:paramtypes', [Object, Object]);
Reflect.decorate([Post('webhooks'), types], prototype, 'receive', Object.getOwnPropertyDescriptor(prototype, 'receive'));
Req()(prototype, 'receive', 0);
Res()(prototype, 'receive', 1);
Controller()(Webhooks);
class Root {}
Module({ controllers: [Webhooks] })(Root);

const options = { rawBody: bodies === 'raw', logger: ['error'] };
const app = await (platform === 'fastify' ? NestFactory.create(Root, new FastifyAdapter(), options) : NestFactory.create(Root, options));
await app.listen(Number(process.env.PORT));
`;

let project: InstalledPackages;

beforeAll(async () => {
  project = await installPackages(kit, frameworks);
  await project.write('receiver.js', receiver);
  await project.write('index.js', firebase);
  await project.write('nest.js', nest);
}, timeout);

afterAll(() => project.remove());

async function start(...args: string[]): Promise<(id: string) => Promise<unknown>> {
  const port = await findFreePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, args, { cwd: project.folder, env, stdio: 'inherit' });
  onTestFinished(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  const url = `http://127.0.0.1:${port}/webhooks`;
  while (
    !(await fetch(url).then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}.`);
    await sleep(100);
  }
  return async (id) => {
    const body = JSON.stringify({
      id: 'gid://service/WebhookEvent/1',
      type: 'lender.updated',
      version: '2026-11-01',
      timestamp: '2026-11-20T12:00:00.000Z',
      data: { lenderId: 'gid://service/Lender/1', name: 'Quay  Lending ☂' },
    });
    const headers = {
      ...signWebhook({ prefix: 'X-Service', id, timestamp: Math.floor(Date.now() / 1000), body, secret }),
    };
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { ...headers, 'content-type': 'application/json' },
    });
    return [response.status, await response.json()];
  };
}

// Both parse the body before a handler gets the request, and keep the bytes in `request.rawBody`.
test.each([
  ['functions-framework', 'node_modules/@google-cloud/functions-framework/build/src/main.js', '--target=webhook'],
  ['NestJS with rawBody', 'nest.js', 'raw', 'express'],
  ['NestJS on Fastify with rawBody', 'nest.js', 'raw', 'fastify'],
])('receives and processes a delivery once behind %s', { timeout }, async (_, ...args) => {
  const send = await start(...args);
  expect([await send('a'), await send('a')]).toEqual([
    [200, { result: 'processed' }],
    [200, { result: 'duplicate' }],
  ]);
});

test.each(['express', 'fastify'])(
  'says what is wrong behind NestJS without rawBody: %s',
  { timeout },
  async (platform) => {
    const send = await start('nest.js', 'parsed', platform);
    expect(await send('a')).toEqual([500, { code: 'BODY_NOT_RAW' }]);
  },
);
