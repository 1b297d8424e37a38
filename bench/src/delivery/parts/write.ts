import { startChild } from '../../child.ts';
import type { LoadRequest, LoadResult } from '../../graphql/load-protocol.ts';
import type { Part } from '../part.ts';
import { writeMarkdown, type WriteResult } from '../report.ts';
import { withStack } from '../stack.ts';
import { startOurContestants } from '../write/our-contestants.ts';
import { startWritePeer } from '../write/peer-contestant.ts';
import { writePeerNames } from '../write/peer-names.ts';
import { runWriteRounds } from '../write/rounds.ts';

const connections = 32;
const input = { clientName: 'Ada Lovelace', clientEmail: 'ada@example.com', externalReference: 'CRM-{n}' };

export const write: Part<WriteResult> = {
  summary: `createReferral by ${connections} connections of one client until its webhook arrives, beside pg-boss and graphile-worker`,

  async run({ quick, progress }) {
    const { rounds, roundMs, warmUpMs } = quick
      ? { rounds: 1, roundMs: 1_000, warmUpMs: 500 }
      : { rounds: 5, roundMs: 10_000, warmUpMs: 5_000 };
    return withStack({ receivers: 1 + writePeerNames.length }, async ({ postgres, receiver, system }, defer) => {
      const [ourOrigin = '', ...peerOrigins] = receiver.origins;
      progress('Starting the servers');
      const { withoutKeys, withKeys } = await startOurContestants(system, `${ourOrigin}/hooks`, {
        input,
        built: false,
        defer,
      });
      const contestants = [withoutKeys, withKeys];
      for (const [index, name] of writePeerNames.entries()) {
        const databaseUrl = await postgres.createDatabase(name);
        contestants.push(await startWritePeer(name, databaseUrl, peerOrigins[index] ?? '', input, defer));
      }
      const { child: load } = await startChild<LoadRequest, LoadResult>('./graphql/load-process.ts');
      defer(() => load.close());
      const servers = { load, receiver, postgres };

      const results = await runWriteRounds(contestants, servers, { connections, rounds, roundMs, warmUpMs }, progress);
      return { connections, rounds, roundMs, results };
    });
  },

  markdown: writeMarkdown,
};
