import { expect, test } from 'vitest';
import { launchChain, type Ancestor } from './parent-chain.ts';

function reader(...processes: Ancestor[]) {
  return async (pid: number): Promise<Ancestor | null> => processes.find((found) => found.pid === pid) ?? null;
}

const init = { pid: 1, parentPid: 0, command: 'init' };
const terminal = { pid: 10, parentPid: 1, command: 'zsh' };
const dev = { pid: 50, parentPid: 40, command: 'node tools/dev-environment/src/dev.ts' };

test('watches every process from npx down, and the parent of npx', async () => {
  const npx = { pid: 20, parentPid: 10, command: 'node /usr/bin/npx -y pnpm@12.21.0 dev' };
  const pnpm = { pid: 30, parentPid: 20, command: '/home/u/.npm/_npx/pnpm dev' };
  const shell = { pid: 40, parentPid: 30, command: 'sh -c node tools/dev-environment/src/dev.ts' };
  const chain = await launchChain(50, reader(init, terminal, npx, pnpm, shell, dev));
  expect(chain.map(({ pid, parentPid }) => [pid, parentPid])).toEqual([
    [50, 40],
    [40, 30],
    [30, 20],
    [20, 10],
  ]);
});

test('watches a shell whose script runs npx, and not what started this shell', async () => {
  const npm = { pid: 11, parentPid: 10, command: 'npm run ci' };
  const script = { pid: 12, parentPid: 11, command: 'sh -c ./ci.sh' };
  const shell = { pid: 15, parentPid: 12, command: 'sh -c npx -y pnpm@12.21.0 dev; echo ended' };
  const npx = { pid: 20, parentPid: 15, command: 'npm exec pnpm@12.21.0 dev' };
  const chain = await launchChain(50, reader(init, terminal, npm, script, shell, npx, { ...dev, parentPid: 20 }));
  expect(chain.map(({ pid, parentPid }) => [pid, parentPid])).toEqual([
    [50, 20],
    [20, 15],
  ]);
});

test('watches only its own parent when it is started directly', async () => {
  const shell = { pid: 40, parentPid: 10, command: 'bash' };
  const chain = await launchChain(50, reader(init, terminal, shell, dev));
  expect(chain).toEqual([dev]);
});

test('ends the chain at a parent that does not exist', async () => {
  expect(await launchChain(50, reader(dev))).toEqual([dev]);
});
