import { createServer } from 'node:net';
import { listen } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { requireFreePorts } from './ports.ts';

test('rejects a port that two variables set, with the names of both', async () => {
  await expect(requireFreePorts({ FIRST_PORT: 4009, SECOND_PORT: 0, THIRD_PORT: 4009 })).rejects.toThrow(
    'THIRD_PORT: port 4009 is already set by FIRST_PORT. Set THIRD_PORT to another port, or to 0 to select a free one.',
  );
});

test('accepts port 0 any number of times', async () => {
  await expect(requireFreePorts({ FIRST_PORT: 0, SECOND_PORT: 0 })).resolves.toBeUndefined();
});

test('rejects every port that is in use, with the name of its variable', async () => {
  const [first, second] = [await listen(createServer()), await listen(createServer())];
  onTestFinished(async () => {
    await first.close();
    await second.close();
  });
  await expect(requireFreePorts({ FIRST_PORT: first.port, SECOND_PORT: 0, THIRD_PORT: second.port })).rejects.toThrow(
    `FIRST_PORT: port ${first.port} is in use. Set FIRST_PORT to another port, or to 0 to select a free one.\n` +
      `THIRD_PORT: port ${second.port} is in use. Set THIRD_PORT to another port, or to 0 to select a free one.`,
  );
});
