import { createServer } from 'node:net';
import { listen } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { newDevHome } from '../dev-process.ts';

test('--help prints the options', async () => {
  const dev = (await newDevHome()).start({}, { commandArguments: ['--help'] });
  expect(await dev.ended).toBe(0);
  expect(dev.output()).toMatch(/^Usage: npx -y pnpm@[\d.]+ dev \[options\]\n[\s\S]*--receiver/);
});

test('an unknown option exits with 2 and one line', async () => {
  const dev = (await newDevHome()).start({}, { commandArguments: ['--reciever'] });
  expect(await dev.ended).toBe(2);
  expect(dev.output()).toMatch(/^Unknown option '--reciever'\. `npx -y pnpm@[\d.]+ dev --help` lists the options\.\n$/);
});

test('a folder without a service exits with 2', async () => {
  const dev = (await newDevHome({ interfaceNames: [], folder: import.meta.dirname })).start();
  expect(await dev.ended).toBe(2);
  expect(dev.output()).toBe('tools/dev-environment/test/full is no folder with a service: it has no package.json.\n');
});

test('exits with 1 and the name of the variable of a port that is in use', async () => {
  const holder = await forTest(listen(createServer()));
  const dev = (await newDevHome()).start({ CUSTOMER_API_PORT: String(holder.port) });
  expect(await dev.ended).toBe(1);
  expect(dev.output()).toBe(
    `CUSTOMER_API_PORT: port ${holder.port} is in use. Set CUSTOMER_API_PORT to another port, or to 0 to select a free one.\n`,
  );
});

test('exits with 1 and every error of a wrong configuration', async () => {
  const dev = (await newDevHome()).start({ CUSTOMER_API_PORT: 'x', DATABASE_URL: 'mysql://x' });
  expect(await dev.ended).toBe(1);
  expect(dev.output()).toBe(
    `The configuration is invalid:
  DATABASE_URL must be a URL that begins with postgres:// or postgresql://
  CUSTOMER_API_PORT must be a whole number from 0 to 65535
`,
  );
});

test('reports that the server of DATABASE_URL is unavailable', async () => {
  const home = await newDevHome();
  const dev = home.start({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
  expect(await dev.ended).toBe(1);
  expect(dev.output()).toMatch(
    /No PostgreSQL server accepts connections at 127\.0\.0\.1:1\. .+ \(connect ECONNREFUSED 127\.0\.0\.1:1\)\n$/,
  );
});
