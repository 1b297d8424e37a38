import { expect, test } from 'vitest';
import { requireFreePorts } from './ports.ts';

test('rejects a port that two variables set, with the names of both', async () => {
  await expect(requireFreePorts({ FIRST_PORT: 4009, SECOND_PORT: 0, THIRD_PORT: 4009 })).rejects.toThrow(
    'THIRD_PORT: port 4009 is already set by FIRST_PORT. Set THIRD_PORT to another port, or to 0 to select a free one.',
  );
});

test('accepts port 0 any number of times', async () => {
  await expect(requireFreePorts({ FIRST_PORT: 0, SECOND_PORT: 0 })).resolves.toBeUndefined();
});
