import { startChild } from '../../child.ts';
import { createOurSystem } from '../../delivery/ours/our-system.ts';
import type { Part } from '../../delivery/part.ts';
import { ours, writeMarkdown, type WriteResult } from '../../delivery/report.ts';
import { withStack } from '../../delivery/stack.ts';
import { startOurContestants } from '../../delivery/write/our-contestants.ts';
import { runWriteRounds } from '../../delivery/write/rounds.ts';
import type { LoadRequest, LoadResult } from '../../graphql/load-protocol.ts';
import { readCheckout } from '../checkout.ts';

const connections = 32;
const input = { clientName: 'Ada Lovelace', clientEmail: 'ada@example.com', externalReference: 'CRM-{n}' };

export interface VersionsWriteResult {
  withoutKeys: WriteResult;
  withKeys: WriteResult;
}

export const write: Part<VersionsWriteResult> = {
  summary: `createReferral by ${connections} connections of one client until its webhook arrives`,

  async run({ quick, values, progress }) {
    const { name, folder } = readCheckout(values['beside']);
    const plan = quick
      ? { connections, rounds: 1, roundMs: 1_000, warmUpMs: 500 }
      : { connections, rounds: 7, roundMs: 6_000, warmUpMs: 5_000 };
    return withStack({ receivers: 2 }, async ({ postgres, receiver, system }, defer) => {
      const [ourOrigin = '', otherOrigin = ''] = receiver.origins;
      progress('Starting the servers');
      const options = { input, built: false, defer };
      const own = await startOurContestants(system, `${ourOrigin}/hooks`, { ...options, name: ours });
      const otherSystem = await createOurSystem(await postgres.createDatabase('beside'), values['migration']);
      defer(() => otherSystem.close());
      const other = await startOurContestants(otherSystem, `${otherOrigin}/hooks`, {
        ...options,
        name,
        checkout: folder,
      });
      const { child: load } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
      defer(() => load.close());
      const measure = async (kind: 'withoutKeys' | 'withKeys'): Promise<WriteResult> => ({
        ...plan,
        results: await runWriteRounds([own[kind], other[kind]], { load, receiver, postgres }, plan, progress),
      });
      return { withoutKeys: await measure('withoutKeys'), withKeys: await measure('withKeys') };
    });
  },

  markdown: ({ withoutKeys, withKeys }) => [withoutKeys, withKeys].map(writeMarkdown).join('\n\n'),
};
