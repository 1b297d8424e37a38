import { expect, test } from 'vitest';
import { requireFreePorts } from './ports.ts';

test('a port that two variables name is refused by their names', async () => {
  await expect(requireFreePorts({ FIRST_PORT: 4009, SECOND_PORT: 0, THIRD_PORT: 4009 })).rejects.toThrow(
    'THIRD_PORT: port 4009 is that of FIRST_PORT already. Set THIRD_PORT to another port, or to 0 for a free one.',
  );
});

test('0 may be named any number of times', async () => {
  await expect(requireFreePorts({ FIRST_PORT: 0, SECOND_PORT: 0 })).resolves.toBeUndefined();
});
